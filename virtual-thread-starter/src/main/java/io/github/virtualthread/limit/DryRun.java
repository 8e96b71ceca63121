package io.github.virtualthread.limit;

import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import java.util.Map;

/**
 * What a limit would do to its calls if it were in force, while it lets all of them begin: with half of its permits, with these, and with
 * twice as many. Calls that ran before are not counted. A failure for want of memory is none of the call: the shadows then forget who
 * runs and who waits.
 *
 * <p>Everything needs the lock of the limit.
 */
final class DryRun {

    private final Map<PermitRequest, ShadowCall> running;
    private final ShadowQueue half = new ShadowQueue(0);
    private final ShadowQueue same = new ShadowQueue(1);
    private final ShadowQueue twice = new ShadowQueue(2);
    private final ShadowQueue[] shadows = {half, same, twice};
    private int mostInUse;

    /**
     * Creates shadows that have seen nothing.
     *
     * @param running keeps the calls that run, by identity
     */
    DryRun(Map<PermitRequest, ShadowCall> running) {
        this.running = running;
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
            ShadowCall call = new ShadowCall(now);
            running.put(request, call);
            for (ShadowQueue each : shadows) {
                each.come(call, now);
            }
        } catch (Throwable shortage) {
            forget();
        }
    }

    /** A call has ended. Throws nothing. */
    void end(PermitRequest request, long now) {
        ShadowCall call = running.remove(request);
        if (call == null) { // ran before
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

    /** The limit is in force from now on. What was counted stays, and no call is kept alive. */
    void stop(long now) {
        catchUp(now);
        forget();
    }

    private void forget() {
        running.clear();
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
