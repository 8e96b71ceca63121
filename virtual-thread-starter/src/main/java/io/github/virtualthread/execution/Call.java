package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.PermitRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/** One call, whatever thread it runs on. */
abstract class Call extends PermitRequest implements TaskCall {

    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicLongFieldUpdater<Call> ID = AtomicLongFieldUpdater.newUpdater(Call.class, "id");

    private final TaskSpec spec;
    private List<TaskListener> heardBy = List.of();
    private volatile long id; // 0: nobody has asked for it
    private volatile long startedAt; // 0: not started

    /** A call that has not been submitted. */
    Call(TaskSpec spec) {
        super(spec.limit());
        this.spec = spec;
    }

    /** Calls of which nobody shows the number need none: they do not meet at one counter. */
    @Override
    public final long id() {
        if (id == 0) {
            ID.compareAndSet(this, 0, NUMBERS.incrementAndGet());
        }
        return id;
    }

    @Override
    public final TaskSpec spec() {
        return spec;
    }

    @Override
    public final boolean isStarted() {
        return startedAt != 0;
    }

    @Override
    public final Duration waited() {
        long until = startedAt;
        return Duration.ofNanos(Math.max(0, (until == 0 ? System.nanoTime() : until) - askedAt()));
    }

    @Override
    public final Duration ran() {
        long since = startedAt;
        return since == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    }

    /** Nanoseconds from the start of the body to that moment. */
    final long ranAt(long nanoTime) {
        return nanoTime - startedAt;
    }

    /** Who hears of this call, from its submission on. */
    final void heardBy(List<TaskListener> listeners) {
        heardBy = listeners;
    }

    final List<TaskListener> heardBy() {
        return heardBy;
    }

    final TaskEngine engine() {
        return spec.engine();
    }

    /** The body is about to run. */
    final void started() {
        startedAt = System.nanoTime() | 1; // never 0
        engine().listeners().started(this);
    }

    @Override
    protected final boolean isNested() {
        return engine().holders().currentHolds(spec.limit());
    }

    final LimitExceededException rejection(Reason reason) {
        return new LimitExceededException(spec.name(), spec.limit(), reason);
    }
}
