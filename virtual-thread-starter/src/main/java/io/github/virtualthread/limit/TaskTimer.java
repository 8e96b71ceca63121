package io.github.virtualthread.limit;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The one timer of an application. It has a thread only while something is scheduled.
 *
 * <p>What it runs must be short: it hands over to virtual threads and never runs code of the application.
 */
public final class TaskTimer implements AutoCloseable {

    private static final long IDLE_SECONDS = 10;

    final ScheduledThreadPoolExecutor executor;

    /**
     * A timer without a thread yet.
     *
     * @param threadName name of its thread
     */
    public TaskTimer(String threadName) {
        this(Thread.ofPlatform()
                .daemon()
                .name(threadName)
                .inheritInheritableThreadLocals(false)
                .factory());
    }

    TaskTimer(ThreadFactory threads) {
        executor = new ScheduledThreadPoolExecutor(
                1,
                threads,
                // after close nobody waits any more: what would have expired was rejected
                (task, pool) -> {});
        executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setRemoveOnCancelPolicy(true);
    }

    /**
     * Runs an action once, later. Does nothing after {@link #close}.
     *
     * @param action what to run on the thread of the timer: short, and no code of the application
     * @param nanos how long to wait, in nanoseconds; at once if not positive
     * @return forgets the action by {@code cancel}
     */
    public Future<?> schedule(Runnable action, long nanos) {
        return executor.schedule(action, nanos, TimeUnit.NANOSECONDS);
    }

    /** Forgets everything that is scheduled and ends the thread. Does not block. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
