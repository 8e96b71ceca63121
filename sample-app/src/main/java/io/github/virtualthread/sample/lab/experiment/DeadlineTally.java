package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Measurement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Also tells the answers in time from those that come too late. Both are counted in the second half of the time in which users come:
 * before, queues fill, and afterwards there is no load.
 */
final class DeadlineTally extends DoorTally {

    static final Column IN_TIME = new Column("inTime", "done in time", "per second");
    static final Column LATE = new Column("late", "done too late", "per second");

    private final long begin = System.nanoTime();
    private final Duration deadline;
    private final Duration asked;
    private final AtomicInteger inTime = new AtomicInteger();
    private final AtomicInteger inTimeUnderLoad = new AtomicInteger();
    private final AtomicInteger lateUnderLoad = new AtomicInteger();
    private final AtomicInteger left = new AtomicInteger();

    /**
     * Of users who come from now on.
     *
     * @param asked time in which they come
     */
    DeadlineTally(Duration deadline, Duration asked) {
        this.deadline = deadline;
        this.asked = asked;
    }

    @Override
    public void answered(long nanoseconds) {
        super.answered(nanoseconds);
        long now = System.nanoTime() - begin;
        boolean underLoad = now >= asked.toNanos() / 2 && now < asked.toNanos();
        if (nanoseconds > deadline.toNanos()) {
            lateUnderLoad.addAndGet(underLoad ? 1 : 0);
        } else {
            inTime.incrementAndGet();
            inTimeUnderLoad.addAndGet(underLoad ? 1 : 0);
        }
    }

    @Override
    public void timedOut() {
        super.timedOut();
        left.incrementAndGet();
    }

    /** So far. */
    int inTime() {
        return inTime.get();
    }

    /** Whether the server still has requests for whose answers nobody waits. */
    boolean isLeft() {
        return left.get() > 0;
    }

    /** Adds what was done in time and too late, and the refused. */
    Measurement addTo(Measurement measured) {
        double seconds = asked.toNanos() / 2e9;
        return addTo(
                measured.and(IN_TIME.key(), inTimeUnderLoad.get() / seconds)
                        .and(LATE.key(), lateUnderLoad.get() / seconds),
                asked);
    }
}
