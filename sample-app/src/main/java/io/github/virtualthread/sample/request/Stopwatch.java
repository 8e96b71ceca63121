package io.github.virtualthread.sample.request;

import java.time.Duration;

/** Time since its start, in whole milliseconds. */
public final class Stopwatch {

    private final long start = System.nanoTime();

    private Stopwatch() {}

    public static Stopwatch start() {
        return new Stopwatch();
    }

    public long millis() {
        return Duration.ofNanos(System.nanoTime() - start).toMillis();
    }
}
