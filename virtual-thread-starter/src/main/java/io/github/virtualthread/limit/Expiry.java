package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Evicts requests that have waited too long. All wait equally long at most, so they expire in the order in which they came: one entry
 * in the timer, for the oldest, serves all.
 */
final class Expiry {

    /** Maximum number of requests that the timer's thread takes out of the queue in a row. */
    private static final int MOST_IN_A_ROW = 1_000;

    private final WaitQueue queue;
    private final BriefLock lock; // guards the queue and the entry
    private final TaskTimer timer;
    private final RejectionQueue rejections;
    private final TaskLimit limit;
    private final Runnable whenDue = this::due; // made before memory may be short
    private @Nullable Future<?> entry;

    /**
     * Creates an expiry without an entry in the timer.
     *
     * @param lock of the limit
     * @param rejections where requests go from the queue
     * @param limit has the maximum wait
     */
    Expiry(WaitQueue queue, BriefLock lock, TaskTimer timer, RejectionQueue rejections, TaskLimit limit) {
        this.queue = queue;
        this.lock = lock;
        this.timer = timer;
        this.rejections = rejections;
        this.limit = limit;
    }

    /** Has the timer wake us for the oldest request, unless it does so earlier already. Needs the lock. */
    void schedule() {
        PermitRequest oldest = queue.oldest();
        Duration longest = limit.maxWait();
        if (oldest != null && longest != null && (entry == null || entry.isDone())) {
            long waited = System.nanoTime() - oldest.joinedAt;
            entry = timer.schedule(whenDue, TimeUnit.NANOSECONDS.convert(longest) - waited);
        }
    }

    /** An entry that is out of date must not stay: it would hold its place in the timer, and the limit, till its time. Needs the lock. */
    void reschedule() {
        Future<?> outdated = entry;
        entry = null;
        try {
            schedule();
        } catch (Throwable shortage) {
            entry = outdated; // still wakes us, too early or too late
            throw shortage;
        }
        if (outdated != null) {
            outdated.cancel(false);
        }
    }

    /**
     * Takes requests out of the queue that have waited too long, but not very many at once, because the timer has other work. If it
     * finds no memory, it comes again.
     */
    private void due() {
        PermitRequest expired = poll();
        for (int polled = 1; expired != null; polled++) {
            rejections.add(expired, Reason.WAIT_TIMEOUT);
            expired = polled < MOST_IN_A_ROW ? poll() : null;
        }
        rejections.reportSoon();
        try (ScopedLock held = lock.hold()) {
            reschedule(); // who joined meanwhile has left that to us
        }
    }

    private @Nullable PermitRequest poll() {
        try (ScopedLock held = lock.hold()) {
            Duration longest = limit.maxWait();
            if (longest == null) {
                return null;
            }
            return queue.pollWaitingAtLeast(TimeUnit.NANOSECONDS.convert(longest), System.nanoTime());
        }
    }
}
