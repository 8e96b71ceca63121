package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Requests that get no permit any more, until each rejection is reported, first in, first out. Linked by their own fields, because
 * memory may be short.
 *
 * <p>Each is reported on a thread that has nothing else to do, because that may block. A request stays here until it has claimed its
 * report: where memory is short, the JVM may take what a thread does off its stack. What was lost that way is reported after {@link
 * #reportAgain}.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // all is written under the lock
final class RejectionQueue {

    /** Maximum number of threads that are asked for and have not begun, while no carrier takes any. */
    static final int MOST_THREADS_COMING = 64;

    private final BriefLock lock = new BriefLock();
    private final LinkedNodes<PermitRequest> requests =
            new LinkedNodes<>(); // guarded by the lock; those being reported come first
    private volatile int unreported;
    private final TaskTimer timer;
    private final Runnable reportNext = this::reportNext; // made before memory may be short
    private final AtomicInteger coming = new AtomicInteger(); // threads that have been asked for and have not begun

    RejectionQueue(TaskTimer timer) {
        this.timer = timer;
    }

    /** Whether there is nothing to report but what some thread reports already. */
    boolean isEmpty() {
        return unreported == 0;
    }

    /**
     * Adds a request that is in no other queue, and has it release what it does not need for the report.
     *
     * @param reason why it gets no permit; null where it had one and could not use it
     */
    void add(PermitRequest request, @Nullable Reason reason) {
        request.rejecting(reason);
        try (ScopedLock held = lock.hold()) {
            requests.add(request);
            unreported++;
        }
    }

    /** Has one more thread report the first of them, unless one comes already. That has the others follow. Does not block. */
    void reportSoon() {
        ask(1);
    }

    private void ask(int most) {
        int asked = coming.get();
        // if another thread has asked, or has begun, in between, that one sees to the rest
        if (!isEmpty() && asked < Math.min(unreported, most) && coming.compareAndSet(asked, asked + 1)) {
            try {
                timer.handOffReport(reportNext);
            } catch (Throwable shortage) {
                coming.decrementAndGet();
                throw shortage;
            }
        }
    }

    /** As {@link #reportSoon}, for callers that nobody would have try again: if memory is short, they report themselves. */
    void reportSoonOrNow() {
        try {
            reportSoon();
        } catch (Throwable shortage) {
            reportAll();
        }
    }

    /**
     * Reports one. A virtual thread has one follow, so that calls get their carriers while many are rejected, and a report that blocks
     * holds up no other. A platform thread, which comes where no carrier is free, asks for two: there are soon as many as there is
     * work for.
     */
    private void reportNext() {
        coming.decrementAndGet();
        PermitRequest next = nextUnreported();
        if (next == null) {
            return;
        }
        try {
            reportSoon();
            if (!Thread.currentThread().isVirtual()) {
                ask(MOST_THREADS_COMING);
            }
        } catch (OutOfMemoryError shortage) {
            report(next);
            reportAll();
            return;
        }
        report(next);
        boolean unused =
                Thread.interrupted(); // what a report leaves behind is not for the next one of a platform thread
        reportSoonOrNow();
    }

    private void reportAll() {
        for (PermitRequest next = nextUnreported(); next != null; next = nextUnreported()) {
            report(next);
        }
    }

    /** One that cannot be reported does not keep the others from it. It stays here, to be reported again. */
    private void report(PermitRequest request) {
        try {
            request.report();
            if (!request.hasClaimed()) {
                try (ScopedLock held = lock.hold()) { // the request may be about to be reported again
                    claimed(request, request.isReporting());
                }
            }
        } catch (Throwable failure) {
            TaskTimer.uncaught(failure);
        }
    }

    /** Those that some thread has begun to report, and has not claimed, count as unreported again: that thread may be lost. */
    void reportAgain() {
        try (ScopedLock held = lock.hold()) {
            for (PermitRequest each = requests.peek(); each != null && each.isReporting(); each = each.next) {
                if (each.reportsAgain()) {
                    unreported++;
                }
            }
        }
        reportSoon();
    }

    /** The first that nobody reports, which this thread now does. Those before it are as many as there are threads that report. */
    private @Nullable PermitRequest nextUnreported() {
        try (ScopedLock held = lock.hold()) {
            for (PermitRequest each = requests.peek(); each != null; each = each.next) {
                if (each.reporting()) {
                    unreported--;
                    return each;
                }
            }
            return null;
        }
    }

    /** The request has claimed its report, which some thread had begun or not. */
    void claimed(PermitRequest request, boolean begun) {
        try (ScopedLock held = lock.hold()) {
            if (requests.contains(request)) { // otherwise another thread has reported it, too
                requests.remove(request);
                unreported -= begun ? 0 : 1;
            }
        }
    }

    /** Those that have not claimed their report. */
    List<PermitRequest> all() {
        return lock.locked(() -> {
            List<PermitRequest> all = new ArrayList<>();
            for (PermitRequest each = requests.peek(); each != null; each = each.next) {
                all.add(each);
            }
            return all;
        });
    }
}
