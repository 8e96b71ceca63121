package io.github.virtualthread.execution;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The permit of a call that runs on the thread of its caller, which waits for it; given back by {@link #close(Throwable)}. */
final class CallerPermit extends Call {

    private final Thread thread = Thread.currentThread();
    private @Nullable CallerPermit outer; // written before others see this
    private volatile boolean granted;
    private volatile @Nullable Reason rejection;

    private CallerPermit(TaskSpec spec) {
        super(spec);
    }

    /**
     * Takes a permit, waiting for it in the queue of the limit.
     *
     * @throws LimitExceededException if the limit refuses, or the wait was too long
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    static CallerPermit acquire(TaskSpec spec) throws InterruptedException {
        TaskEngine engine = spec.engine();
        CallerPermit permit = new CallerPermit(spec);
        engine.listeners().submitted(permit);
        try {
            permit.acquire();
        } catch (LimitExceededException rejection) {
            engine.listeners().rejected(permit, rejection);
            throw rejection;
        } catch (InterruptedException interruption) {
            engine.listeners().finished(permit, Outcome.CANCELLED, interruption);
            throw interruption;
        } catch (Throwable noTimer) {
            engine.listeners().finished(permit, Outcome.ERROR, noTimer);
            throw noTimer;
        }
        try {
            permit.outer = engine.holders().innermost();
            engine.holders().enter(permit);
            permit.started();
        } catch (Throwable noStack) {
            permit.close(noStack);
            throw noStack;
        }
        return permit;
    }

    private void acquire() throws InterruptedException {
        Reason refused = ask();
        if (refused != null) {
            throw rejection(refused);
        }
        if (!granted) {
            awaitWhileOpen();
        }
    }

    @Nullable
    CallerPermit outer() {
        return outer;
    }

    /** Whoever stops the engine waits for this one, and puts it out in the end. */
    private void awaitWhileOpen() throws InterruptedException {
        engine().live().begin(); // before the phase is looked at: who stops after that knows of this one
        try {
            if (engine().isStopped() && leave()) {
                throw rejection(Reason.SHUTDOWN);
            }
            await();
        } finally {
            engine().live().end();
        }
    }

    private void await() throws InterruptedException {
        long begin = System.nanoTime();
        while (!granted) {
            Reason rejected = rejection;
            if (rejected != null) {
                throw rejection(rejected);
            }
            if (Thread.interrupted()) {
                giveUp();
                throw new InterruptedException("%s was interrupted while it waited for a permit of limit '%s'"
                        .formatted(spec().name(), spec().limitName()));
            }
            park(System.nanoTime() - begin);
        }
    }

    /** The limit ends a wait that it bounds. Only where it bounds none, a platform thread sees to it itself. */
    private void park(long waited) {
        if (thread.isVirtual()) {
            LockSupport.park(this);
            return;
        }
        Duration longest = engine().patience().platformThread();
        long left = longest.toNanos() - waited;
        if (left <= 0 && isWaitUnbounded()) {
            giveUp();
            LimitExceededException refusal = rejection(Reason.WAIT_TIMEOUT);
            refusal.initCause(new TimeoutException(
                    "A platform thread waits at most %s ms for a permit of a limit that has no max-wait"
                            .formatted(longest.toMillis())));
            throw refusal;
        }
        // the limit may lose its longest wait meanwhile: looked at again
        LockSupport.parkNanos(this, left > 0 ? left : longest.toNanos());
    }

    private boolean isWaitUnbounded() {
        TaskLimit limit = spec().limit();
        return limit == null || limit.maxWait() == null;
    }

    /** Leaves the queue; a permit that is on its way is awaited and goes back. */
    @SuppressWarnings("ThreadPriorityCheck") // whoever took us out of the queue is about to tell us
    private void giveUp() {
        if (!leave()) {
            while (!granted && rejection == null) {
                Thread.yield();
            }
            giveBack();
        }
    }

    @Override
    protected void granted() {
        granted = true;
        if (!thread.equals(Thread.currentThread())) { // or the body would not block where it parks first
            LockSupport.unpark(thread);
        }
    }

    /** Cannot be: {@link #granted()} throws nothing. */
    @Override
    protected void grantFailed(Throwable failure) {
        throw new IllegalStateException("A waiting thread could not be told of its permit", failure);
    }

    @Override
    protected void rejected(Reason reason) {
        rejection = reason;
        LockSupport.unpark(thread);
    }

    /** Gives the permit back, which starts the next in the queue. */
    void close(@Nullable Throwable failure) {
        giveBack(); // first: whatever comes before it could fail
        engine().holders().leave(outer);
        engine().listeners().finished(this, failure == null ? Outcome.SUCCESS : Outcome.ERROR, failure);
    }
}
