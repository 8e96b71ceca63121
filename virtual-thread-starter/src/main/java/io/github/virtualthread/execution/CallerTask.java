package io.github.virtualthread.execution;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A call that runs on the thread of its caller, which waits for the permit. {@link #close(Throwable)} gives the permit back. */
final class CallerTask extends Call {

    private final Thread thread = Thread.currentThread();
    private @Nullable CallerTask outer; // written before other threads see this
    private volatile boolean granted;
    private volatile @Nullable Reason rejection;

    private CallerTask(TaskSpec spec) {
        super(spec);
    }

    /**
     * Takes a permit, and waits for it in the queue of the limit.
     *
     * @param deadline when the wait ends, perhaps over already; null for none
     * @throws LimitExceededException if the limit rejects the call, or the wait was too long
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    static CallerTask acquire(TaskSpec spec, @Nullable Deadline deadline) throws InterruptedException {
        CallerTask permit = new CallerTask(beside(spec));
        permit.observe();
        try {
            permit.acquire(deadline);
        } catch (InterruptedException interruption) {
            permit.finished(Outcome.CANCELLED, interruption);
            throw interruption;
        } catch (Throwable reason) {
            permit.rejected(reason);
            throw reason;
        }
        try {
            permit.enterThread();
            permit.started();
        } catch (Throwable shortage) {
            permit.close(shortage);
            throw shortage;
        }
        return permit;
    }

    /** Who holds a permit of a limit around this one takes no other one there, and goes before those who wait for one. */
    private static TaskSpec beside(TaskSpec spec) {
        TaskLimit limit = spec.limit();
        if (limit == null || limit.within() == null) {
            return spec;
        }
        EngineSpec own = EngineSpec.of(spec);
        TaskLimit held = own.parts.holders().heldAround(limit);
        return held == null ? spec : own.forOneCall(own.key(), held);
    }

    /** Reports a call that fails before it asks for a permit. */
    static void fail(TaskSpec spec, Throwable failure) {
        CallerTask call = new CallerTask(spec);
        call.observe();
        call.finished(Outcome.ERROR, failure);
    }

    /**
     * Reports a call that is rejected before it asks for a permit.
     *
     * @param deadline that of the call, null for none
     * @return what its caller throws
     */
    static LimitExceededException reject(TaskSpec spec, Reason reason, @Nullable Deadline deadline) {
        CallerTask call = new CallerTask(spec);
        call.observe();
        LimitExceededException rejection = call.rejection(reason, deadline);
        call.rejected(rejection);
        return rejection;
    }

    private void acquire(@Nullable Deadline deadline) throws InterruptedException {
        if (deadline != null && deadline.isOver()) {
            throw rejection(deadline.reason(Reason.DEADLINE), deadline);
        }
        Deadline ofWait = deadline == null || !rejectsHopeless() ? deadline : deadline.half();
        Reason refused = ask(ofWait == null ? Long.MAX_VALUE : ofWait.left());
        if (refused != null) {
            throw rejection(refused, deadline);
        }
        if (!granted) {
            CallScope scope = deadline == null ? null : deadline.scope();
            try {
                if (scope != null) {
                    scope.add(this, CallerTask::lookSoon); // before the deadline is looked at
                }
                awaitWhileOpen(deadline, ofWait);
            } catch (Throwable over) { // also where memory is short: nobody else gives the permit back
                giveUp();
                throw over;
            } finally {
                if (scope != null) {
                    scope.remove(this);
                }
            }
        }
    }

    @Nullable
    CallerTask outer() {
        return outer;
    }

    /** A stop of the engine waits for this call, and rejects it in the end. */
    private void awaitWhileOpen(@Nullable Deadline deadline, @Nullable Deadline ofWait) throws InterruptedException {
        parts().live().begin(); // before the gate is checked: a stop that comes later sees this call
        try {
            if (parts().gate().isStopped() && leave(Reason.SHUTDOWN)) {
                throw rejection(Reason.SHUTDOWN, null);
            }
            await(deadline, ofWait);
        } finally {
            parts().live().end();
        }
    }

    /** Has the thread look whether its time is over: by the timer, which tries again where memory is short. */
    private void lookSoon() {
        Future<?> unused = parts().timer().schedule(() -> LockSupport.unpark(thread), 0);
    }

    private void await(@Nullable Deadline deadline, @Nullable Deadline ofWait) throws InterruptedException {
        long begin = System.nanoTime();
        while (!granted) {
            Reason rejected = rejection;
            if (rejected != null) {
                throw rejection(rejected, deadline);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("%s was interrupted while it waited for a permit of limit '%s'"
                        .formatted(spec().name(), spec().limitName()));
            }
            if (ofWait == null || !ofWait.isOver()) {
                park(System.nanoTime() - begin, ofWait == null ? Long.MAX_VALUE : ofWait.left());
            } else if (!leave(ofWait.reason(ofWait.equals(deadline) ? Reason.DEADLINE : Reason.HOPELESS))) {
                parkUntilReported();
            }
        }
    }

    /**
     * The limit ends the wait of a virtual thread. A platform thread ends its wait itself, because it needs no carrier for
     * that, and so does any thread with a deadline.
     *
     * @param most nanoseconds until its wait is over, the maximum value for none
     */
    private void park(long waited, long most) {
        if (thread.isVirtual()) {
            if (most == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, most);
            }
            return;
        }
        TaskLimit limit = spec().limit();
        Duration maxWait = limit == null ? null : limit.maxWait();
        Duration patience = parts().platformWait();
        Duration longest = maxWait == null ? patience : maxWait;
        long left = TimeUnit.NANOSECONDS.convert(longest) - waited;
        if (left > 0) {
            // and then checks again, because the limit may have changed
            LockSupport.parkNanos(this, Math.min(most, Math.min(left, patience.toNanos())));
        } else if (leave(Reason.WAIT_TIMEOUT)) {
            LimitExceededException refusal = rejection(Reason.WAIT_TIMEOUT, null);
            if (maxWait == null) {
                refusal.initCause(new TimeoutException(
                        "A platform thread waits at most %s ms for a permit if the limit has no max-wait"
                                .formatted(longest.toMillis())));
            }
            throw refusal;
        } else {
            parkUntilReported();
        }
    }

    /** The thread that removed us from the queue is about to wake us. Looked at anew: to leave may park, and so miss that. */
    private void parkUntilReported() {
        if (!granted && rejection == null) {
            try {
                LockSupport.park(this);
            } catch (OutOfMemoryError shortage) { // a virtual thread leaves its carrier by copying its stack
                Thread.onSpinWait();
            }
        }
    }

    /** Leaves the queue, if the call is still in it, and notes why. */
    private boolean leave(Reason why) {
        boolean left = leaveQueue();
        if (left) {
            rejection = why;
        }
        return left;
    }

    /** Leaves the queue. A permit that is on its way is awaited and given back. */
    private void giveUp() {
        if (!leaveQueue()) {
            boolean interrupted = false;
            while (!granted && rejection == null) {
                interrupted |= Thread.interrupted(); // or this would not park
                parkUntilReported();
            }
            giveBack();
            if (interrupted) {
                thread.interrupt();
            }
        }
    }

    @Override
    protected void granted() {
        granted = true;
        if (!thread.equals(Thread.currentThread())) { // or the body would not block where it parks first
            LockSupport.unpark(thread);
        }
    }

    /** Below JDK 24 a virtual thread cannot be woken while memory is short. It is lost, and its permit goes to another call. */
    @Override
    protected void onStartFailed(Throwable failure) {}

    /** At once, because that never blocks: no other report holds it up. */
    @Override
    protected void onRejected(Reason reason) {
        try {
            reportRejected(reason);
        } catch (Throwable shortage) {
            // the thread is woken again when its turn comes
        }
    }

    @Override
    protected void reportRejected(@Nullable Reason reason) {
        if (reason != null) {
            rejection = reason;
            LockSupport.unpark(thread);
        }
    }

    @Override
    protected void reportSoon() {}

    /** Gives the permit back, which starts the next call in the queue. */
    void close(@Nullable Throwable failure) {
        giveBack(); // first: anything before it could fail
        parts().holders().leave(outer);
        finished(failure == null ? Outcome.SUCCESS : Outcome.ERROR, failure);
    }

    /** The call goes on, on the current thread. */
    void enterThread() {
        PermitHolders holders = parts().holders();
        outer = holders.innermost();
        holders.enter(this);
    }

    /** The current thread goes on without the call. */
    void leaveThread() {
        parts().holders().leave(outer);
    }

    /** Gives the permit back, as {@link #close} does, while another thread may have the call, or none. */
    void end(@Nullable Throwable failure) {
        giveBack();
        parts().holders().away.remove(this);
        finished(failure == null ? Outcome.SUCCESS : Outcome.ERROR, failure);
    }
}
