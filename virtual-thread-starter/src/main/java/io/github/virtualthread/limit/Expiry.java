package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The end of waiting too long. All wait equally long at most, so they expire in the order of the queue: one entry in the timer,
 * for the head, serves all. Everything needs the lock of the limit.
 */
final class Expiry {

    private final WaitQueue queue;
    private final TaskTimer timer;
    private final Runnable whenDue;
    private @Nullable Future<?> entry;
    private boolean lettingGo; // somebody polls: nobody has to be woken

    /**
     * Nothing expires yet.
     *
     * @param whenDue called on the thread of the timer, without the lock
     */
    Expiry(WaitQueue queue, TaskTimer timer, Runnable whenDue) {
        this.queue = queue;
        this.timer = timer;
        this.whenDue = whenDue;
    }

    /** Has the timer wake us for the head of the queue, unless it is to do that for somebody before. */
    void schedule(@Nullable Duration maxWait) {
        PermitRequest head = queue.peek();
        if (head != null && maxWait != null && !lettingGo && (entry == null || entry.isDone())) {
            entry = timer.schedule(whenDue, nanos(maxWait) - (System.nanoTime() - head.joinedAt));
        }
    }

    /** An entry that is out of date must not stay: it would hold its place in the timer, and the limit, till its time. */
    void reschedule(@Nullable Duration maxWait) {
        Future<?> outdated = entry;
        entry = null;
        try {
            schedule(maxWait);
        } catch (Throwable noTimer) {
            entry = outdated; // still wakes us, too early or too late
            throw noTimer;
        }
        if (outdated != null) {
            outdated.cancel(false);
        }
    }

    /** Takes the head out of the queue if it has waited that long. Whoever polls comes back until it gives nothing, and then ends. */
    @Nullable
    PermitRequest poll(@Nullable Duration maxWait) {
        lettingGo = true;
        return maxWait == null ? null : queue.pollWaitingAtLeast(nanos(maxWait), System.nanoTime());
    }

    /** Nobody polls any more: the timer has to wake us for the next. */
    void end(@Nullable Duration maxWait) {
        lettingGo = false;
        reschedule(maxWait);
    }

    /** Saturated: a wait of centuries is one of any time. */
    private static long nanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }
}
