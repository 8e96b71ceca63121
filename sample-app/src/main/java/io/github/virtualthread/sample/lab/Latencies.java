package io.github.virtualthread.sample.lab;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** How long calls took. Thread-safe while they are added. */
public final class Latencies {

    public static final Answer.Column P50 = new Answer.Column("p50", "median", "ms");
    public static final Answer.Column P99 = new Answer.Column("p99", "99th percentile", "ms");
    public static final Answer.Column MOST = new Answer.Column("most", "slowest", "ms");

    private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();

    public void add(long nanoseconds) {
        nanos.add(nanoseconds);
    }

    /** With the figures of {@link #P50}, {@link #P99} and {@link #MOST}; as it was where there is none. */
    public Measurement addTo(Measurement measurement) {
        return addTo(measurement, P50, P99, MOST);
    }

    /** The same, as figures of those columns. */
    public Measurement addTo(
            Measurement measurement, Answer.Column median, Answer.Column percentile, Answer.Column slowest) {
        long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
        if (sorted.length == 0) {
            return measurement;
        }
        return measurement
                .and(median.key(), millis(sorted, 0.5))
                .and(percentile.key(), millis(sorted, 0.99))
                .and(slowest.key(), millis(sorted, 1));
    }

    /** The smallest within which that part of all lies. */
    private static double millis(long[] sorted, double part) {
        int index = (int) Math.ceil(part * sorted.length) - 1;
        return sorted[Math.clamp(index, 0, sorted.length - 1)] / 1e6;
    }
}
