package io.github.virtualthread.interceptor;

import org.jspecify.annotations.Nullable;

/**
 * A method that the checks found to be advised.
 *
 * @param method its class and name, as in {@code com.acme.Mailer.send}
 * @param limit limit that bounds it, with the default limit already applied; null for none
 */
public record AnnotatedCall(String method, @Nullable String limit) {}
