package io.github.virtualthread.aop;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A method that the checks found to be advised.
 *
 * @param method its class and name, as in {@code com.acme.Mailer.send}
 * @param name name of its tasks, as in {@code Mailer.send}
 * @param limit limit that bounds it, with the default limit already applied; null for none
 * @param timeout longest run, with the default already applied; null for any time
 */
public record AnnotatedCall(
        String method,
        String name,
        @Nullable String limit,
        @Nullable Duration timeout) {}
