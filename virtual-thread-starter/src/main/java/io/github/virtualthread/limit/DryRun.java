package io.github.virtualthread.limit;

import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import java.util.function.LongFunction;

/**
 * What a limit would do to its calls if it were in force, while it lets all of them begin: with half of its permits, with these, and with
 * twice as many. Calls that ran before are not counted. A failure for want of memory is none of the call: the shadows then forget who
 * runs and who waits.
 *
 * <p>Everything needs the lock of the limit.
 */
final class DryRun {

    /** Size of the semaphore while the limit only watches: every call finds a permit, and those that run are counted. */
    static final int PERMITS = Integer.MAX_VALUE;

    private final LongFunction<ShadowCall> calls;
    private final ShadowQueue half = new ShadowQueue(0);
    private final ShadowQueue same = new ShadowQueue(1);
    private final ShadowQueue twice = new ShadowQueue(2);
    private final ShadowQueue[] shadows = {half, same, twice};
    private int mostInUse;
    private int era; // the calls of an earlier one are forgotten

    /**
     * Creates shadows that have seen nothing.
     *
     * @param calls makes a call that comes at a moment
     */
    DryRun(LongFunction<ShadowCall> calls) {
        this.calls = calls;
    }

    /** The limit has these settings from now on. */
    void resize(LimitSettings settings, long now) {
        int permits = settings.permits();
        half.resize(Math.max(1, permits / 2), settings, now);
        same.resize(permits, settings, now);
        twice.resize((int) Math.min(2L * permits, Integer.MAX_VALUE), settings, now);
    }

    /**
     * A call has its permit, and begins. Throws nothing.
     *
     * @param inUse number of permits that calls hold, this one included
     */
    void begin(PermitRequest request, int inUse, long now) {
        mostInUse = Math.max(mostInUse, inUse);
        try {
            ShadowCall call = calls.apply(now);
            call.era = era;
            request.previous = call; // a call that runs is in no list, and a map would cost 50 ns
            for (ShadowQueue each : shadows) {
                each.come(call, now);
            }
        } catch (Throwable shortage) {
            forget();
        }
    }

    /** A call has ended. Throws nothing. */
    void end(PermitRequest request, long now) {
        Object kept = request.previous;
        request.previous = null;
        if (!(kept instanceof ShadowCall call) || call.era != era) { // ran before
            return;
        }
        try {
            call.end(now);
            for (ShadowQueue each : shadows) {
                each.end(call, now);
            }
        } catch (Throwable shortage) {
            forget();
        }
    }

    /** The limit is in force from now on. What was counted stays. */
    void stop(long now) {
        catchUp(now);
        forget();
    }

    private void forget() {
        era++;
        for (ShadowQueue each : shadows) {
            each.clear();
        }
    }

    private void catchUp(long now) {
        for (ShadowQueue each : shadows) {
            each.catchUp(now);
        }
    }

    TaskLimit.DryRunState state(long now) {
        catchUp(now);
        return new TaskLimit.DryRunState(mostInUse, half.state(), same.state(), twice.state());
    }
}
