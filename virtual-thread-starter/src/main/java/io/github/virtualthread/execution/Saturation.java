package io.github.virtualthread.execution;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the watch remembers of one limit between two looks, which are a second apart. */
final class Saturation {

    private static final int LOOKS_A_MINUTE = 60;

    /** How many calls had completed at each look of the last minute; a ring. */
    private final long[] completed = new long[LOOKS_A_MINUTE + 1];

    private long rejected; // until the last look
    private long rejectedBefore; // until the limit became full
    private Duration full = Duration.ZERO; // at the last look
    private int looks;
    private @Nullable Duration last; // how long the limit had been full at the last look, if the log has told of it
    private int toldAt;

    /**
     * One look.
     *
     * @param completed how many calls have completed until now
     * @param rejected how many were rejected until now
     * @param full how long the limit has been full
     */
    void sample(long completed, long rejected, Duration full) {
        this.completed[++looks % this.completed.length] = completed;
        if (full.isZero()) {
            rejectedBefore = rejected;
        } else if (full.compareTo(this.full) < 0) {
            rejectedBefore = this.rejected;
        }
        this.rejected = rejected;
        this.full = full;
    }

    long rejectedSinceFull() {
        return rejected - rejectedBefore;
    }

    long completedInTheLastMinute() {
        // the slot behind the newest is the oldest; before the ring is full it is still zero, as the count was
        return completed[looks % completed.length] - completed[(looks + 1) % completed.length];
    }

    /** Whether the log has told of a saturation that is over: a permit was free since. */
    boolean isOver(Duration full) {
        return last != null && full.compareTo(last) < 0;
    }

    /** Ends it; returns how long it was when it was last seen. */
    Duration end() {
        Duration ended = last == null ? Duration.ZERO : last;
        last = null;
        return ended;
    }

    /** Once when it has lasted long enough, and once a minute from then on. */
    boolean isToBeTold(Duration full) {
        boolean due = last == null || looks - toldAt >= LOOKS_A_MINUTE;
        last = full;
        toldAt = due ? looks : toldAt;
        return due;
    }
}
