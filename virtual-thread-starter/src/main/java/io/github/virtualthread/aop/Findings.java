package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.util.List;

/**
 * What the checks found.
 *
 * @param mistakes all mistakes, in the order of the bean definitions; empty where everything is right
 * @param calls all advised methods, once each
 * @param selfInvocations calls of advised methods that no proxy sees, since an object makes them to itself; empty where
 *     nothing is advised
 */
public record Findings(List<Mistake> mistakes, List<AnnotatedCall> calls, List<Mistake> selfInvocations) {

    /** Nothing annotated, nothing wrong. */
    static final Findings NONE = new Findings(List.of(), List.of(), List.of());

    /** Copies the lists. */
    public Findings {
        mistakes = List.copyOf(mistakes);
        calls = List.copyOf(calls);
        selfInvocations = List.copyOf(selfInvocations);
    }
}
