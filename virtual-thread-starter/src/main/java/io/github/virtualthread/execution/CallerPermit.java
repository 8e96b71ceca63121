package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.PermitRequest;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The permit of a call that runs on the thread of its caller, which waits for it; given back by {@link #close}. */
final class CallerPermit extends PermitRequest {

    private final Thread thread = Thread.currentThread();
    private final TaskEngine engine;
    private final TaskSpec spec;
    private @Nullable CallerPermit outer;
    private volatile boolean granted;
    private volatile @Nullable Reason rejection;

    private CallerPermit(TaskEngine engine, TaskSpec spec) {
        super(spec.limit());
        this.engine = engine;
        this.spec = spec;
    }

    /**
     * Takes a permit, waiting for it in the queue of the limit.
     *
     * @throws LimitExceededException if the limit refuses, or the wait was too long
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    static CallerPermit acquire(TaskEngine engine, TaskSpec spec) throws InterruptedException {
        CallerPermit permit = new CallerPermit(engine, spec);
        Reason refused = permit.ask();
        if (refused != null) {
            throw permit.exception(refused);
        }
        if (permit.waitsNested()) {
            engine.holders().warn(spec);
        }
        permit.await();
        permit.outer = engine.holders().enter(permit);
        return permit;
    }

    TaskSpec spec() {
        return spec;
    }

    @Nullable
    CallerPermit outer() {
        return outer;
    }

    private void await() throws InterruptedException {
        long begin = System.nanoTime();
        long longest = thread.isVirtual()
                ? Long.MAX_VALUE
                : engine.patience().platformThread().toNanos();
        while (!granted) {
            Reason rejected = rejection;
            if (rejected != null) {
                throw exception(rejected);
            }
            if (Thread.interrupted()) {
                giveUp();
                throw new InterruptedException("%s was interrupted while it waited for a permit of limit '%s'"
                        .formatted(spec.name(), spec.limitName()));
            }
            long left = longest - (System.nanoTime() - begin);
            if (left <= 0) {
                giveUp();
                throw exception(Reason.WAIT_TIMEOUT);
            }
            LockSupport.parkNanos(this, left);
        }
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

    private LimitExceededException exception(Reason reason) {
        return new LimitExceededException(spec.name(), spec.limit(), reason);
    }

    @Override
    protected boolean isNested() {
        return engine.holders().currentHolds(spec.limit());
    }

    @Override
    protected void granted() {
        granted = true;
        LockSupport.unpark(thread);
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
    void close() {
        engine.holders().leave(outer);
        giveBack();
    }
}
