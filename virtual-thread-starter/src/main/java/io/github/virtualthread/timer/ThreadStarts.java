package io.github.virtualthread.timer;

/**
 * Starts threads. Where one cannot be had, the JVM tries for some milliseconds: after that nobody tries again for a moment, as many
 * may want one at the same time.
 */
final class ThreadStarts {

    /** Made before it is needed. */
    private final OutOfMemoryError none =
            new OutOfMemoryError("No thread can be started now: one could not be had within the last 10 ms");

    private volatile long failedAt; // by System.nanoTime(), 0 where the last one could be had

    /**
     * Starts a thread.
     *
     * @throws OutOfMemoryError if it cannot be had
     */
    void start(Thread thread) {
        long before = failedAt;
        if (before != 0 && System.nanoTime() - before < TaskTimer.PAUSE_NANOS) {
            throw none;
        }
        try {
            thread.start();
        } catch (OutOfMemoryError shortage) {
            failedAt = System.nanoTime() | 1;
            throw shortage;
        }
        if (before != 0) {
            failedAt = 0;
        }
    }
}
