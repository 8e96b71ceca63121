package io.github.virtualthread.interceptor;

import java.util.List;

/**
 * What the checks found.
 *
 * @param mistakes all mistakes, in the order of the bean definitions; empty where everything is right
 * @param calls all advised methods, once each
 */
public record Findings(List<Mistake> mistakes, List<AnnotatedCall> calls) {

    /** Nothing annotated, nothing wrong. */
    static final Findings NONE = new Findings(List.of(), List.of());

    /** Copies both lists. */
    public Findings {
        mistakes = List.copyOf(mistakes);
        calls = List.copyOf(calls);
    }
}
