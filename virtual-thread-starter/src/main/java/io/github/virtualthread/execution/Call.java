package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/** One call, whatever thread it runs on. */
abstract class Call extends PermitRequest implements TaskCall {

    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicLongFieldUpdater<Call> ID = AtomicLongFieldUpdater.newUpdater(Call.class, "id");
    private static final AtomicLongFieldUpdater<Call> STARTED_AT =
            AtomicLongFieldUpdater.newUpdater(Call.class, "startedAt");

    private final TaskSpec spec;
    private boolean heard;
    private volatile long id; // 0: nobody has asked for it
    private volatile long startedAt; // 0: not started

    /** A call that has not been submitted. */
    Call(TaskSpec spec) {
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

    /** A call of which nobody has asked for the number does not get one here. */
    final boolean hasId(long wanted) {
        return id == wanted;
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
        long since = askedAt();
        long until = startedAt;
        return since == 0
                ? Duration.ZERO
                : Duration.ofNanos(Math.max(0, (until == 0 ? System.nanoTime() : until) - since));
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

    /** Somebody hears of this call, from its submission on, and may ask how long it has waited. */
    final void hear() {
        heard = true;
        asked();
    }

    final boolean isHeard() {
        return heard;
    }

    @Override
    protected final @Nullable TaskLimit limit() {
        return spec.limit();
    }

    final TaskEngine engine() {
        return spec.engine();
    }

    /** The body is about to run. */
    final void started() {
        STARTED_AT.lazySet(this, System.nanoTime() | 1); // never 0
        engine().listeners().started(this);
    }

    @Override
    protected final boolean isNested() {
        return engine().holders().currentHolds(spec.limit());
    }

    @Override
    protected final void waitsNested() {
        engine().holders().warn(spec);
    }

    final LimitExceededException rejection(Reason reason) {
        LimitExceededException rejection = new LimitExceededException(spec.name(), spec.limit(), reason);
        if (engine().tracesCallers()) {
            rejection.setStackTrace(new Throwable().getStackTrace());
        }
        return rejection;
    }
}
