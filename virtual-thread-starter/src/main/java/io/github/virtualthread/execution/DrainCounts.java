package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
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

    private final Map<String, Counts> limits = new ConcurrentSkipListMap<>();
    private final long begin = System.nanoTime();

    /** Adds one and returns the counter, because it may be taken back when another stop counts. */
    LongAdder add(String limit, Ending ending) {
        LongAdder counter = limits.computeIfAbsent(limit, name -> new Counts()).of(ending);
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
        Counts all = new Counts();
        limits.values().forEach(all::add);
        return limits.entrySet().stream()
                .map(limit -> limit.getKey() + ": " + limit.getValue())
                .collect(Collectors.joining("; ", all + " (", ")"));
    }

    private static final class Counts {

        private final Map<Ending, LongAdder> numbers = new EnumMap<>(Ending.class); // has all of them

        Counts() {
            EnumSet.allOf(Ending.class).forEach(ending -> numbers.put(ending, new LongAdder()));
        }

        LongAdder of(Ending ending) {
            return Objects.requireNonNull(numbers.get(ending));
        }

        void add(Counts other) {
            numbers.forEach((ending, number) -> number.add(other.of(ending).sum()));
        }

        @Override
        public String toString() {
            return "%s finished, %s interrupted, %s dropped"
                    .formatted(numbers.values().toArray());
        }
    }
}
