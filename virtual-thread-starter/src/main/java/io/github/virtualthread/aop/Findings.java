package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the checks found.
 *
 * @param mistakes all mistakes, in the order of the bean definitions; empty where everything is right
 * @param methods all advised methods, once each
 * @param selfInvocations calls of advised methods that no proxy sees, since an object makes them to itself; empty where
 *     nothing is advised
 */
public record Findings(List<Mistake> mistakes, List<AdvisedMethod> methods, List<Mistake> selfInvocations) {

    /** Nothing annotated, nothing wrong. */
    static final Findings NONE = new Findings(List.of(), List.of(), List.of());

    /** Copies the lists. */
    public Findings {
        mistakes = List.copyOf(mistakes);
        methods = List.copyOf(methods);
        selfInvocations = List.copyOf(selfInvocations);
    }

    /**
     * A method that the checks found to be advised.
     *
     * @param method its class and name, as in {@code com.acme.Mailer.send}
     * @param name name of its tasks, as in {@code Mailer.send}
     * @param limit limit that bounds it, with the default limit already applied; null for none
     * @param timeout longest run, with the default already applied; null for any time
     */
    public record AdvisedMethod(
            String method,
            String name,
            @Nullable String limit,
            @Nullable Duration timeout) {}
}
