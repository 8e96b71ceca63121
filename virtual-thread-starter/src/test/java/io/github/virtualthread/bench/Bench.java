package io.github.virtualthread.bench;

import org.slf4j.MDC;

/** Runs the benchmarks, one fork of each after the other in every round: whatever slows the machine down hits all alike. */
public final class Bench {

    private Bench() {}

    /** As many keys as a web application has. */
    static void fillMdc(String contender) {
        if (contender.contains("-")) {
            MDC.put("user", "alice");
            MDC.put("request", "7");
            MDC.put("trace", "0123456789abcdef");
        }
    }
}
