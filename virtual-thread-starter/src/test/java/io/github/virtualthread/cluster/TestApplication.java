package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** All that an application has whose limits are shared, without Spring. */
public final class TestApplication implements AutoCloseable {

    public final TaskTimer timer = new TaskTimer("timer");
    public final TaskLimits limits;
    public final VirtualThreads threads;
    private final ClusterShares shares;
    private final AtomicIntegerArray exchanges = new AtomicIntegerArray(Outcome.values().length);

    public TestApplication(ClusterEngine engine, ClusterSettings settings, List<LimitSettings> limits) {
        this.limits = new TaskLimits(limits, timer, change -> {});
        shares = new ClusterShares(() -> engine, settings, timer);
        shares.listen(new ClusterShares.Listener() {
            @Override
            public void exchanged(Duration took, Outcome outcome) {
                exchanges.incrementAndGet(outcome.ordinal());
            }

            @Override
            public void lost() {}
        });
        this.limits.all().forEach(shares::add);
        shares.start();
        TaskEngine tasks = new TaskEngine(
                this.limits,
                ContextPropagation.none(),
                timer,
                new TaskThreads("vt-", getClass().getClassLoader()),
                CallExtensions.NONE,
                false);
        threads = Calls.byHand(tasks, (spec, failure) -> {});
    }

    public TaskLimit add(LimitSettings settings) {
        limits.add(settings);
        TaskLimit limit = limits.get(settings.name());
        shares.add(limit);
        return limit;
    }

    public ClusterState state(String limit) {
        return Objects.requireNonNull(limits.get(limit).cluster());
    }

    /** How many exchanges have ended so until now. */
    public int exchanges(Outcome outcome) {
        return exchanges.get(outcome.ordinal());
    }

    /** Waits for an event that nobody tells of. */
    public static void until(BooleanSupplier event) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(4);
        while (!event.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("waits for an event").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Override
    public void close() {
        shares.stop();
        timer.close();
    }
}
