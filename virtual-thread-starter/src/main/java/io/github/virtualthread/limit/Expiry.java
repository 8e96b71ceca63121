package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Evicts requests that have waited too long. All wait equally long at most, so they expire in the order in which they came: one entry
 * in the timer, for the oldest, serves all.
 */
final class Expiry {

    /** How many requests the timer's thread takes out of the queue itself. */
    private static final int FIRST = 1_000;

    private final WaitQueue queue;
    private final BriefLock lock; // guards the queue, the entry and whether somebody polls
    private final TaskTimer timer;
    private final RejectionQueue rejections;
    private final Supplier<@Nullable Duration> maxWait;
    private final Runnable whenDue = this::due; // made before memory may be short
    private @Nullable Future<?> entry;
    private boolean polling; // somebody polls: the timer need not wake us

    /**
     * Creates an expiry without an entry in the timer.
     *
     * @param lock of the limit
     * @param rejections where requests go from the queue
     * @param maxWait maximum wait of the limit, null for none
     */
    Expiry(
            WaitQueue queue,
            BriefLock lock,
            TaskTimer timer,
            RejectionQueue rejections,
            Supplier<@Nullable Duration> maxWait) {
        this.queue = queue;
        this.lock = lock;
        this.timer = timer;
        this.rejections = rejections;
        this.maxWait = maxWait;
    }

    /** Has the timer wake us for the oldest request, unless it does so earlier already. Needs the lock. */
    void schedule() {
        PermitRequest oldest = queue.oldest();
        Duration longest = maxWait.get();
        if (oldest != null && longest != null && !polling && (entry == null || entry.isDone())) {
            entry = timer.schedule(whenDue, nanos(longest) - (System.nanoTime() - oldest.joinedAt));
        }
    }

    /** An entry that is out of date must not stay: it would hold its place in the timer, and the limit, till its time. Needs the lock. */
    void reschedule() {
        Future<?> outdated = entry;
        entry = null;
        try {
            schedule();
        } catch (Throwable noTimer) {
            entry = outdated; // still wakes us, too early or too late
            throw noTimer;
        }
        if (outdated != null) {
            outdated.cancel(false);
        }
    }

    /** The timer's thread only frees some memory, without which there may be no thread for the rest. */
    private void due() {
        if (pollExpired(FIRST)) {
            timer.handOff(this::expire);
        }
    }

    /** Reports to those who have waited too long. Before each report, all who are due let go of what they hold. */
    private void expire() {
        for (int told = 0; pollExpired(); told++) {
            if (told == HandOffs.TURNS && timer.goesOnOnPlatformThread(this::expire)) {
                return;
            }
            boolean unused = rejections.tellNext();
        }
    }

    /** Does not give up if the timer has no room for the next of them: nobody else would wake us for those. */
    private boolean pollExpired() {
        while (true) {
            try {
                return pollExpired(Integer.MAX_VALUE);
            } catch (OutOfMemoryError noRoom) {
                TaskTimer.pause();
            }
        }
    }

    /**
     * Takes requests out of the queue that have waited too long.
     *
     * @return whether there is a request to report to, and so whether to come back; if not, the timer wakes us for the next
     */
    private boolean pollExpired(int most) {
        boolean any = !rejections.isEmpty();
        for (int polled = 0; polled < most; polled++) {
            PermitRequest next = poll(any);
            if (next == null) {
                return any;
            }
            rejections.add(next, Reason.WAIT_TIMEOUT);
            any = true;
        }
        return any;
    }

    private @Nullable PermitRequest poll(boolean comesBack) {
        lock.lock();
        try {
            polling = true;
            Duration longest = maxWait.get();
            PermitRequest expired =
                    longest == null ? null : queue.pollWaitingAtLeast(nanos(longest), System.nanoTime());
            if (expired == null && !comesBack) {
                polling = false;
                reschedule();
            }
            return expired;
        } finally {
            lock.unlock();
        }
    }

    /** Saturated: a wait of centuries is unlimited. */
    private static long nanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }
}
