package io.github.virtualthread.observation;

import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What runs under each limit and those within it. All running calls are read for that, at most once per second for all gauges of all limits.
 */
final class RunningCalls {

    /** How long a snapshot is used: one scrape of all gauges takes less, and the next one comes later. */
    private static final long FRESH = Duration.ofSeconds(1).toNanos();

    /**
     * What runs under one limit.
     *
     * @param abandoned number of permits held by bodies whose call has ended
     * @param oldest how long the oldest body has run, in seconds
     */
    record Holding(int abandoned, double oldest) {

        static final Holding NOTHING = new Holding(0, 0);

        Holding and(Holding other) {
            return new Holding(abandoned + other.abandoned, Math.max(oldest, other.oldest));
        }
    }

    private record Look(long at, Map<TaskLimit, Holding> limits, List<TaskSpec> stuck) {}

    private final Supplier<List<LiveCall>> running;
    private final LiveCalls calls;
    private final LongSupplier clock;
    private final @Nullable Duration stuckAfter;
    private final ScopedLock lock = new ScopedLock();
    private @Nullable Look last; // guarded by the lock

    RunningCalls(LiveCalls calls, @Nullable Duration stuckAfter) {
        this(calls, calls::running, System::nanoTime, stuckAfter);
    }

    RunningCalls(LiveCalls calls, Supplier<List<LiveCall>> running, LongSupplier clock, @Nullable Duration stuckAfter) {
        this.calls = calls;
        this.running = running;
        this.clock = clock;
        this.stuckAfter = stuckAfter;
    }

    Holding of(TaskLimit limit) {
        return look().limits().getOrDefault(limit, Holding.NOTHING);
    }

    /** Counts the calls of that name and limit that are stuck and still run. */
    long stuck(TaskSpec spec) {
        return look().stuck().stream()
                .filter(each -> each.limit() == spec.limit() && each.name().equals(spec.name()))
                .count();
    }

    /** Returns how long the oldest waiting call has waited, in seconds; 0 if none waits. */
    double firstWaiting(TaskLimit limit) {
        return calls.waiting(limit, 1).stream()
                .mapToDouble(live -> seconds(live.call().waited()))
                .findFirst()
                .orElse(0);
    }

    private Look look() {
        try (ScopedLock held = lock.hold()) {
            Look look = last;
            if (look == null || clock.getAsLong() - look.at() >= FRESH) {
                List<LiveCall> now = running.get();
                look = new Look(clock.getAsLong(), byLimit(now), stuck(now));
                last = look;
            }
            return look;
        }
    }

    private List<TaskSpec> stuck(List<LiveCall> now) {
        return stuckAfter == null
                ? List.of()
                : now.stream()
                        .map(LiveCall::call)
                        .filter(call -> call.ran().compareTo(stuckAfter) >= 0)
                        .map(TaskCall::spec)
                        .toList();
    }

    private static Map<TaskLimit, Holding> byLimit(List<LiveCall> now) {
        Map<TaskLimit, Holding> limits = new HashMap<>();
        for (LiveCall live : now) {
            Holding one =
                    new Holding(live.abandoned() ? 1 : 0, seconds(live.call().ran()));
            for (TaskLimit limit = live.call().spec().limit(); limit != null; limit = limit.within()) {
                limits.merge(limit, one, Holding::and);
            }
        }
        return limits;
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
