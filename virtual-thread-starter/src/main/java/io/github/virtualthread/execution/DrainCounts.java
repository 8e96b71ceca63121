package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts how calls end while the application stops, for each limit. */
final class DrainCounts {

    /** How a call ended. */
    enum Ending {
        FINISHED,
        INTERRUPTED,
        DROPPED;

        /** Null for a call that its limit rejected, which can happen at any time; but those whose deadline passes are dropped. */
        static @Nullable Ending of(@Nullable Throwable refusal, boolean stopped) {
            if (refusal == null) {
                return stopped ? INTERRUPTED : FINISHED;
            }
            Reason reason = refusal instanceof LimitExceededException rejection ? rejection.reason() : Reason.SHUTDOWN;
            return reason == Reason.SHUTDOWN || reason == Reason.DEADLINE ? DROPPED : null;
        }
    }

    private final Map<String, Map<Ending, LongAdder>> limits = new ConcurrentSkipListMap<>();
    private final long begin = System.nanoTime();

    /** Adds one and returns the counter, because it may be taken back when another stop counts. */
    LongAdder add(String limit, Ending ending) {
        LongAdder counter = limits.computeIfAbsent(limit, name -> new ConcurrentHashMap<>())
                .computeIfAbsent(ending, first -> new LongAdder());
        counter.increment();
        return counter;
    }

    boolean isEmpty() {
        return limits.isEmpty();
    }

    long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    }

    /** As in {@code 12 finished, 1 interrupted, 5 dropped (db: 10 finished, 1 interrupted, 5 dropped; none: ...)}. */
    @Override
    public String toString() {
        return limits.entrySet().stream()
                .map(limit -> limit.getKey() + ": " + text(List.of(limit.getValue())))
                .collect(Collectors.joining("; ", text(limits.values()) + " (", ")"));
    }

    private static String text(Collection<Map<Ending, LongAdder>> counts) {
        return Arrays.stream(Ending.values())
                .map(ending -> sum(counts, ending) + " " + ending.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    private static long sum(Collection<Map<Ending, LongAdder>> counts, Ending ending) {
        return counts.stream()
                .flatMap(each -> Stream.ofNullable(each.get(ending)))
                .mapToLong(LongAdder::sum)
                .sum();
    }
}
