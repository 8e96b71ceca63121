package io.github.virtualthread.execution;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the watch remembers of one limit between two checks, which are one second apart. */
final class Saturation {

    private static final int LOOKS_A_MINUTE = 60;

    /** Number of completed calls at each check of the last minute; a ring. */
    private final long[] completed = new long[LOOKS_A_MINUTE + 1];

    private long rejected; // until the last check
    private long rejectedBefore; // until the limit became full
    private Duration full = Duration.ZERO; // at the last check
    private int looks;
    private @Nullable Duration last; // how long the limit had been full at the last check, if that was logged
    private int loggedAt;

    /**
     * Adds a check.
     *
     * @param completed number of calls that completed until now
     * @param rejected number of calls that were rejected until now
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
        // the slot after the newest is the oldest; until the ring is full it is zero, as the count was
        return completed[looks % completed.length] - completed[(looks + 1) % completed.length];
    }

    /** Ends a saturation that was logged, if a permit was free since; returns how long it had lasted at the last check, or null. */
    @Nullable
    Duration endedBy(Duration full) {
        Duration ended = last != null && full.compareTo(last) < 0 ? last : null;
        last = ended == null ? last : null;
        return ended;
    }

    /** True once when it has lasted long enough, and once per minute from then on. */
    boolean isDue(Duration full) {
        boolean due = last == null || looks - loggedAt >= LOOKS_A_MINUTE;
        last = full;
        loggedAt = due ? looks : loggedAt;
        return due;
    }
}
