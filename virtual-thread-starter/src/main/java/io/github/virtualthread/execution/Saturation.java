package io.github.virtualthread.execution;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the watch remembers of one limit between two looks, which are a second apart. */
final class Saturation {

    private static final int LOOKS_A_MINUTE = 60;

    /** How many calls had completed at each look of the last minute; a ring. */
    private final long[] completed = new long[LOOKS_A_MINUTE + 1];

    private int looks;
    private @Nullable Duration last; // how long the limit had been full at the last look, if the log has told of it
    private int toldAt;

    void sample(long now) {
        completed[++looks % completed.length] = now;
    }

    long completedInTheLastMinute() {
        // the slot behind the newest is the oldest; before the ring is full it is still zero, as the count was
        return completed[looks % completed.length] - completed[(looks + 1) % completed.length];
    }

    /** Whether the log has told of a saturation that is over: nobody waits now, or somebody who has come since. */
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
