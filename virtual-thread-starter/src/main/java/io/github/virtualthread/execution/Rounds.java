package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.ScopedLock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds the number of permits of one limit. A round is as many ends as there are permits, at least 20. A run is slow if it took longer
 * than the goal; one that was stopped before says nothing. If more than half of the runs of a round were slow, or more than a tenth were slow and stopped, a
 * fifth of the permits goes. Otherwise one comes, if all of them were in use at once.
 */
final class Rounds {

    private static final int FEWEST_ENDS = 20;

    private final ScopedLock lock = new ScopedLock();

    // all guarded by lock
    private long lowered; // a run that began before says nothing about the present number
    private int ends;
    private int slow;
    private int stopped;
    private int used; // at once, at most
    private int atLeast; // rounds in a row that would have lowered it further

    /**
     * One run, by {@link System#nanoTime}.
     *
     * @param stopped whether its timeout or its deadline ended it
     */
    record Run(long began, long ended, boolean stopped) {

        boolean isLongerThan(Duration goal) {
            return ended - began > goal.toNanos();
        }
    }

    /**
     * The end of a round.
     *
     * @param permits number of permits from now on
     * @param slow number of its slow runs
     * @param stopped how many of these were stopped
     * @param ends number of its runs
     * @param atLeast number of rounds in a row that would have lowered the least number
     */
    record Result(int permits, int slow, int stopped, int ends, int atLeast) {}

    /** Begins with runs that begin at that moment. */
    Rounds(long moment) {
        this.lowered = moment;
    }

    /**
     * A run has ended, and its permit is back.
     *
     * @param inUse number of permits in use now
     * @return null while the round goes on
     */
    @Nullable
    Result ended(int permits, Adapt adapt, Run run, int inUse) {
        try (ScopedLock held = lock.hold()) {
            boolean isSlow = run.isLongerThan(adapt.runTime());
            if (run.began - lowered < 0 || (run.stopped && !isSlow)) {
                return null; // it says nothing about the present number, or was stopped before it could say anything
            }
            ends++;
            slow += isSlow ? 1 : 0;
            stopped += run.stopped ? 1 : 0;
            used = Math.max(used, inUse + 1); // with that of this run
            return ends < Math.max(FEWEST_ENDS, permits) ? null : end(permits, adapt, run.ended);
        }
    }

    private Result end(int permits, Adapt adapt, long now) {
        int next = used >= permits ? permits + 1 : permits;
        boolean lowers = slow * 2 > ends || stopped * 10 > ends;
        if (lowers) {
            next = permits * 4 / 5;
            lowered = now;
        }
        atLeast = lowers && next < adapt.least() ? atLeast + 1 : 0;
        Result result = new Result(Math.clamp(next, adapt.least(), adapt.most()), slow, stopped, ends, atLeast);
        ends = 0;
        slow = 0;
        stopped = 0;
        used = 0;
        return result;
    }
}
