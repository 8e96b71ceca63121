package io.github.virtualthread.execution;

import io.github.virtualthread.execution.DrainCounts.Ending;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Whether an engine accepts calls, and how many of those that it accepted end while it stops. */
final class Gate {

    private enum Phase {
        OPEN,
        DRAINING,
        STOPPED,
        CLOSED
    }

    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.OPEN);
    private final AtomicReference<@Nullable DrainCounts> counts = new AtomicReference<>(); // null while no stop goes on

    /** Whether calls are accepted from everybody. */
    boolean isOpen() {
        return phase.get() == Phase.OPEN;
    }

    /** Whether calls are accepted from running tasks only. */
    boolean isDraining() {
        return phase.get() == Phase.DRAINING;
    }

    boolean isStopped() {
        Phase now = phase.get();
        return now == Phase.STOPPED || now == Phase.CLOSED;
    }

    /** Accepts calls again after a stop; returns whether the engine was stopped. */
    boolean reopen() {
        return phase.compareAndSet(Phase.STOPPED, Phase.OPEN);
    }

    /** Accepts no more calls from outside; returns whether it accepted them until now. */
    boolean drain() {
        return phase.compareAndSet(Phase.OPEN, Phase.DRAINING);
    }

    /** Accepts no more calls at all; returns false if another stop was faster, and a start came after it. */
    boolean stop() {
        return phase.compareAndSet(Phase.DRAINING, Phase.STOPPED) || isStopped();
    }

    /** Never accepts calls again. */
    void close() {
        phase.set(Phase.CLOSED);
    }

    /** Counts the calls that end in a stop. All stops at the same time share one. */
    DrainCounts counts() {
        return Objects.requireNonNull(counts.updateAndGet(other -> other == null ? new DrainCounts() : other));
    }

    /** Ends the count; returns false if another of these stops has already done so. */
    boolean conclude(DrainCounts stop) {
        return counts.compareAndSet(stop, null);
    }

    /**
     * Counts how a task ends in a stop; {@code ending} is null for a task that is not counted. Null if it was not counted, or if that may
     * have been too late for the line of the stop.
     */
    @Nullable
    LongAdder count(TaskSpec spec, @Nullable Ending ending) {
        try {
            DrainCounts stop = isOpen() ? null : counts.get();
            LongAdder counted = stop == null || ending == null ? null : stop.add(spec, ending);
            return stop == counts.get() ? counted : null;
        } catch (Throwable shortage) {
            return null; // the call is worth more than its place in a line of the log
        }
    }
}
