package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.ScopedLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds the number of permits of one limit. A round is as many ends as there are permits, at least 20. If more than half of its runs were
 * slow, or more than a tenth failed, a fifth of the permits goes. Otherwise one comes, if calls waited at more than half of its ends.
 */
final class Rounds {

    private static final int FEWEST = 20;

    private final ScopedLock lock = new ScopedLock();

    // all guarded by lock
    private long lowered; // a run that began before says nothing about the present number
    private int ends;
    private int slow;
    private int failed;
    private int awaited;
    private int atLeast; // rounds in a row that would have lowered it further

    /**
     * The end of a round.
     *
     * @param permits number of permits from now on
     * @param slow number of its slow runs
     * @param ends number of its runs
     * @param atLeast number of rounds in a row that would have lowered the least number
     */
    record Result(int permits, int slow, int ends, int atLeast) {}

    /** Begins with runs that begin at that moment. */
    Rounds(long moment) {
        this.lowered = moment;
    }

    /**
     * A run has ended.
     *
     * @param failed whether by its timeout or deadline
     * @param calls number of calls that wait
     * @return null while the round goes on
     */
    @Nullable
    Result ended(int permits, Adapt adapt, long began, long now, boolean failed, int calls) {
        try (ScopedLock held = lock.hold()) {
            if (began - lowered < 0) {
                return null;
            }
            ends++;
            slow += failed || now - began > adapt.runTime().toNanos() ? 1 : 0;
            this.failed += failed ? 1 : 0;
            awaited += calls > 0 ? 1 : 0;
            return ends < Math.max(FEWEST, permits) ? null : end(permits, adapt, now);
        }
    }

    private Result end(int permits, Adapt adapt, long now) {
        int next = awaited * 2 > ends ? permits + 1 : permits;
        boolean lowers = slow * 2 > ends || failed * 10 > ends;
        if (lowers) {
            next = permits * 4 / 5;
            lowered = now;
        }
        atLeast = lowers && next < adapt.least() ? atLeast + 1 : 0;
        Result result = new Result(Math.clamp(next, adapt.least(), adapt.most()), slow, ends, atLeast);
        ends = 0;
        slow = 0;
        failed = 0;
        awaited = 0;
        return result;
    }
}
