package io.github.virtualthread.execution;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Counts by limit how calls end while the application stops. */
final class DrainCounts {

    /** How a call ended. */
    enum Ending {
        FINISHED,
        INTERRUPTED,
        DROPPED
    }

    private final Map<String, Map<Ending, LongAdder>> limits = new ConcurrentSkipListMap<>();

    void add(String limit, Ending ending) {
        limits.computeIfAbsent(limit, name -> zero()).get(ending).increment();
    }

    private static Map<Ending, LongAdder> zero() {
        Map<Ending, LongAdder> counts = new EnumMap<>(Ending.class);
        Arrays.stream(Ending.values()).forEach(ending -> counts.put(ending, new LongAdder()));
        return counts;
    }

    boolean isEmpty() {
        return limits.isEmpty();
    }

    /** As in {@code 12 finished, 1 interrupted, 5 dropped (db: 10 finished, 1 interrupted, 5 dropped; none: ...)}. */
    @Override
    public String toString() {
        Map<Ending, LongAdder> all = zero();
        limits.values().forEach(counts -> counts.forEach((ending, count) -> all.get(ending).add(count.sum())));
        return limits.entrySet().stream()
                .map(limit -> limit.getKey() + ": " + describe(limit.getValue()))
                .collect(Collectors.joining("; ", describe(all) + " (", ")"));
    }

    private static String describe(Map<Ending, LongAdder> counts) {
        return "%s finished, %s interrupted, %s dropped"
                .formatted(counts.get(Ending.FINISHED), counts.get(Ending.INTERRUPTED), counts.get(Ending.DROPPED));
    }
}
