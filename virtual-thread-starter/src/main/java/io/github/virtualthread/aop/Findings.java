package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of the checks.
 *
 * @param mistakes all mistakes, in the order of the bean definitions; empty if there are none
 * @param methods all advised methods, once each
 * @param selfInvocations calls of advised methods that bypass the proxy, because an object makes them on itself, or Spring
 *     makes them on the bean itself; empty if nothing is advised
 */
@Internal
public record Findings(List<Mistake> mistakes, List<AdvisedMethod> methods, List<Mistake> selfInvocations) {

    /**
     * A method that is advised.
     *
     * @param method its class and name, as in {@code com.acme.Mailer.send}
     * @param name name of its tasks, as in {@code Mailer.send}
     * @param limit its limit as the annotation or the default spells it; null for none
     * @param timeout maximum run, with the default applied; null for none
     * @param deadline time for wait and run together, null for none of its own
     * @param key expression over the arguments, null for none
     * @param limited whether it runs on its caller's thread, so that neither timeout nor deadline interrupts it
     */
    public record AdvisedMethod(
            String method,
            String name,
            @Nullable String limit,
            @Nullable Duration timeout,
            @Nullable Duration deadline,
            @Nullable String key,
            boolean limited) {}
}
