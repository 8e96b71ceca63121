package io.github.virtualthread.observation;

import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.ArrayList;
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
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private final Supplier<List<LiveCall>> running;
    private final LiveCalls calls;
    private final LongSupplier clock;
    private final @Nullable Duration stuckAfter;
    private final ScopedLock lock = new ScopedLock();

    // all guarded by lock
    private final Map<TaskLimit, Integer> abandoned = new HashMap<>();
    private final Map<TaskLimit, Double> oldest = new HashMap<>();
    private final List<TaskSpec> stuck = new ArrayList<>();
    private long looked;

    RunningCalls(LiveCalls calls, @Nullable Duration stuckAfter) {
        this(calls, calls::running, System::nanoTime, stuckAfter);
    }

    RunningCalls(LiveCalls calls, Supplier<List<LiveCall>> running, LongSupplier clock, @Nullable Duration stuckAfter) {
        this.calls = calls;
        this.running = running;
        this.clock = clock;
        this.stuckAfter = stuckAfter;
        this.looked = clock.getAsLong() - FRESH_NANOS;
    }

    /** Counts the permits held by bodies whose call has ended. */
    int abandoned(TaskLimit limit) {
        return fresh(() -> abandoned.getOrDefault(limit, 0));
    }

    /** Returns how long the oldest body has run, in seconds; 0 if none runs. */
    double oldest(TaskLimit limit) {
        return fresh(() -> oldest.getOrDefault(limit, 0.0));
    }

    /** Counts the calls of that name and limit that are stuck and still run. */
    long stuck(TaskSpec spec) {
        return fresh(() -> stuck.stream()
                .filter(each -> each.limit() == spec.limit() && each.name().equals(spec.name()))
                .count());
    }

    /** Returns how long the oldest waiting call has waited, in seconds; 0 if none waits. */
    double firstWaiting(TaskLimit limit) {
        return calls.waiting(limit, 1).stream()
                .mapToDouble(live -> seconds(live.call().waited()))
                .findFirst()
                .orElse(0);
    }

    private <T> T fresh(Supplier<T> value) {
        try (ScopedLock held = lock.hold()) {
            if (clock.getAsLong() - looked >= FRESH_NANOS) {
                look();
            }
            return value.get();
        }
    }

    private void look() {
        abandoned.clear();
        oldest.clear();
        stuck.clear();
        for (LiveCall live : running.get()) {
            TaskSpec spec = live.call().spec();
            Duration ran = live.call().ran();
            for (TaskLimit limit = spec.limit(); limit != null; limit = limit.within()) {
                abandoned.merge(limit, live.abandoned() ? 1 : 0, Integer::sum);
                oldest.merge(limit, seconds(ran), Math::max);
            }
            if (stuckAfter != null && ran.compareTo(stuckAfter) >= 0) {
                stuck.add(spec);
            }
        }
        looked = clock.getAsLong();
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
