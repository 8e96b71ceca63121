package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts how calls end while the application stops, for each limit and name. */
final class DrainCounts {

    /** How a call ended. */
    enum Ending {
        FINISHED,
        INTERRUPTED,
        DROPPED;

        /** Null for a call that its limit rejected, or that could not be started, which can happen at any time. */
        static @Nullable Ending of(@Nullable Throwable refusal, boolean stopped) {
            if (refusal == null) {
                return stopped ? INTERRUPTED : FINISHED;
            }
            if (refusal instanceof LimitExceededException rejection && rejection.reason() == Reason.SHUTDOWN) {
                return DROPPED;
            }
            return null;
        }
    }

    /** Calls of one name that ended in one way. */
    private record Calls(String limit, String task, Ending ending) {}

    private record Dropped(String task, long number) {}

    private final Map<Calls, LongAdder> counts = new ConcurrentHashMap<>();
    private final long begin = System.nanoTime();

    /** Adds one and returns the counter, because it may be taken back when another stop counts. */
    LongAdder add(TaskSpec spec, Ending ending) {
        Calls calls = new Calls(spec.limitName(), spec.name(), ending);
        LongAdder counter = counts.computeIfAbsent(calls, first -> new LongAdder());
        counter.increment();
        return counter;
    }

    boolean isEmpty() {
        return counts.isEmpty();
    }

    long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    }

    /** As in {@code 12 finished, 1 interrupted, 5 dropped (db: 10 finished, 1 interrupted, 5 dropped; none: ...)}. */
    @Override
    public String toString() {
        return names(Calls::limit)
                .map(limit -> limit + ": " + text(calls -> calls.limit.equals(limit)))
                .collect(Collectors.joining("; ", text(calls -> true) + " (", ")"));
    }

    private String text(Predicate<Calls> which) {
        return Arrays.stream(Ending.values())
                .map(ending -> sum(which.and(calls -> calls.ending == ending))
                        + " "
                        + ending.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    /** The dropped calls, as in {@code 200 of Mails.send, 14 of Reports.write}; empty if there are none. */
    String dropped() {
        return names(Calls::task)
                .map(task -> new Dropped(task, sum(calls -> calls.ending == Ending.DROPPED && calls.task.equals(task))))
                .filter(dropped -> dropped.number > 0)
                .map(dropped -> dropped.number + " of " + dropped.task)
                .collect(Collectors.joining(", "));
    }

    private Stream<String> names(Function<Calls, String> name) {
        return counts.keySet().stream().map(name).distinct().sorted();
    }

    private long sum(Predicate<Calls> which) {
        return counts.entrySet().stream()
                .filter(each -> which.test(each.getKey()))
                .mapToLong(each -> each.getValue().sum())
                .sum();
    }
}
