package io.github.virtualthread.execution;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.limit.KeyedPlace;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/** One call, on any kind of thread. */
abstract class Call extends PermitRequest implements TaskCall {

    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicLongFieldUpdater<Call> ID = AtomicLongFieldUpdater.newUpdater(Call.class, "id");
    private static final AtomicLongFieldUpdater<Call> STARTED_AT =
            AtomicLongFieldUpdater.newUpdater(Call.class, "startedAt");

    /** Bits in one field, because each waiting call costs memory: whether listeners know of this call. */
    private static final byte OBSERVED = 1;

    private static final byte OF_EXECUTOR = 2;
    private static final byte UNAWAITED = 4;
    private static final byte LENT = 8;

    private final EngineSpec spec;
    private byte known; // bits, written before the call is submitted, and where it leaves its queue
    private volatile long id; // 0: not read yet
    private volatile long startedAt; // 0: not started

    /** Creates a call that has not been submitted. */
    Call(TaskSpec spec) {
        this.spec = EngineSpec.of(spec);
    }

    /** A call gets its number when it is read first, so that calls do not contend for one counter. */
    @Override
    public final long id() {
        if (id == 0) {
            ID.compareAndSet(this, 0, NUMBERS.incrementAndGet());
        }
        return id;
    }

    /** Does not assign a number to a call that has none. */
    final boolean hasId(long wanted) {
        return id == wanted;
    }

    @Override
    public final TaskSpec spec() {
        return spec.shared;
    }

    @Override
    public final boolean isStarted() {
        return startedAt != 0;
    }

    @Override
    public final Duration waited() {
        return Duration.ofNanos(waitedNanos());
    }

    /** As {@link #waited}, in nanoseconds, without an object. */
    final long waitedNanos() {
        long since = joinedAt();
        long until = startedAt;
        return since == 0 ? 0 : Math.max(0, (until == 0 ? System.nanoTime() : until) - since);
    }

    @Override
    public final Duration ran() {
        return Duration.ofNanos(ranNanos());
    }

    /** As {@link #ran}, in nanoseconds, without an object. */
    final long ranNanos() {
        long since = startedAt;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    /** Nanoseconds from the start of the body to that moment. */
    final long ranAt(long nanoTime) {
        return nanoTime - startedAt;
    }

    @Override
    protected final @Nullable TaskLimit limit() {
        return spec.limit();
    }

    /** Whether its limit, or one around it, rejects hopeless calls. */
    final boolean rejectsHopeless() {
        boolean rejects = false;
        for (TaskLimit each = spec.limit(); each != null && !rejects; each = each.within()) {
            rejects = each.rejectsHopeless();
        }
        return rejects;
    }

    @Override
    protected final @Nullable KeyedPlace place() {
        return spec.place;
    }

    @Override
    public final @Nullable String key() {
        return spec.key();
    }

    private void note(byte bit) {
        known |= bit;
    }

    private boolean is(byte bit) {
        return (known & bit) != 0;
    }

    /** The call was submitted to an executor and is not a method: messages need other words. */
    final void ofExecutor() {
        note(OF_EXECUTOR);
    }

    final boolean isOfExecutor() {
        return is(OF_EXECUTOR);
    }

    /** Its caller cannot wait for the call, and gets no future of it. */
    final void unawaited() {
        note(UNAWAITED);
    }

    final boolean isUnawaited() {
        return is(UNAWAITED);
    }

    /** It is about to borrow the permit of its caller. */
    final void lent() {
        note(LENT);
    }

    /** Whether the permit of that limit, under which the call ran, was its own. */
    final boolean tookPermitOf(TaskLimit limit) {
        return !is(LENT) && takesPermitOf(limit);
    }

    /** The threads of this call's name. */
    final TaskThreads.Named threads() {
        return spec.threads;
    }

    /** The engine of this call. */
    final EngineParts parts() {
        return spec.parts;
    }

    /** Notifies the listeners of the submission, if one of them hears it. They may ask from then on how long the call has waited. */
    final void observe() {
        if (parts().listeners().listensTo(spec())) {
            note(OBSERVED);
            joins();
            report(TaskListeners.SUBMITTED, null, null);
        }
    }

    /** The body is about to run. */
    final void started() {
        STARTED_AT.lazySet(this, System.nanoTime() | 1); // never 0
        report(TaskListeners.STARTED, null, null);
    }

    final void finished(Outcome outcome, @Nullable Throwable failure) {
        report(TaskListeners.FINISHED, outcome, failure);
    }

    /** The body never runs: the limit has rejected the call, or there was no thread or memory for it. */
    final void rejected(Throwable reason) {
        if (!(reason instanceof LimitExceededException rejection)) {
            finished(Outcome.ERROR, reason);
            return;
        }
        if (rejection.reason() != Reason.SHUTDOWN) { // the line of a stop has the others
            parts().rejections().add(rejection); // with or without listeners
        }
        report(TaskListeners.REJECTED, null, rejection);
    }

    final void stuck() {
        report(TaskListeners.STUCK, null, null);
    }

    /** What became of a statement of the body that was stopped. */
    public final void statementEnded(StatementOutcome outcome) {
        report((listener, call, none, nothing) -> listener.statementEnded(call, outcome), null, null);
    }

    private void report(TaskListeners.Event event, @Nullable Outcome outcome, @Nullable Throwable failure) {
        if (is(OBSERVED)) {
            parts().listeners().notifyEach(this, event, outcome, failure);
        }
    }

    /**
     * Returns why the body never runs.
     *
     * @param deadline that of the call, null for none
     */
    final LimitExceededException rejection(Reason reason, @Nullable Deadline deadline) {
        LimitExceededException rejection = new LimitExceededException(
                spec.name(), spec.limit(), reason, spec.key(), deadline == null ? null : deadline.length());
        if (parts().callerTrace()) {
            rejection.setStackTrace(new Throwable().getStackTrace());
        }
        return rejection;
    }
}
