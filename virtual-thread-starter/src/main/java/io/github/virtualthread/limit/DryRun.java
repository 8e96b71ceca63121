package io.github.virtualthread.limit;

import java.util.IdentityHashMap;
import java.util.function.IntSupplier;

/**
 * What a limit would do to its calls if it were in force, while it lets all of them begin: with half of its permits, with these, and with
 * twice as many. A failure for want of memory is none of the call: the shadows then forget who runs and who waits.
 *
 * <p>Everything needs the lock of the limit.
 */
final class DryRun {

    private final IntSupplier inUse;
    private final IdentityHashMap<PermitRequest, ShadowCall> running = new IdentityHashMap<>();
    private final ShadowQueue half = new ShadowQueue(0);
    private final ShadowQueue same = new ShadowQueue(1);
    private final ShadowQueue twice = new ShadowQueue(2);
    private final ShadowQueue[] shadows = {half, same, twice};
    private int strangers; // calls that run, and began before
    private int mostInUse;

    /**
     * Creates shadows of a limit that have not begun.
     *
     * @param inUse number of permits that calls hold
     */
    DryRun(IntSupplier inUse) {
        this.inUse = inUse;
    }

    /** Begins, for the first time or anew. What was counted stays. */
    void begin() {
        clear();
        strangers = inUse.getAsInt();
        mostInUse = Math.max(mostInUse, strangers);
        for (ShadowQueue each : shadows) {
            each.addStrangers(strangers);
        }
    }

    /** The limit has these settings from now on. */
    void resize(LimitSettings settings, long now) {
        int permits = settings.permits();
        resize(half, Math.max(1, permits / 2), settings, now);
        resize(same, permits, settings, now);
        resize(twice, (int) Math.min(2L * permits, Integer.MAX_VALUE), settings, now);
    }

    private static void resize(ShadowQueue shadow, int permits, LimitSettings settings, long now) {
        shadow.resize(permits, settings.queueCapacity(), settings.maxWait(), now);
    }

    /** A call has its permit, and begins. Throws nothing. */
    void come(PermitRequest request, long now) {
        try {
            ShadowCall call = new ShadowCall(now);
            running.put(request, call);
            recount(now);
            for (ShadowQueue each : shadows) {
                each.come(call, now);
            }
            mostInUse = Math.max(mostInUse, running.size() + strangers);
        } catch (Throwable noRoom) {
            clear();
        }
    }

    /** A call has ended. Throws nothing. */
    void end(PermitRequest request, long now) {
        try {
            ShadowCall call = running.remove(request);
            if (call == null) {
                endStranger(now);
                return;
            }
            call.end(now);
            for (ShadowQueue each : shadows) {
                each.end(call, now);
            }
        } catch (Throwable noRoom) {
            clear();
        }
    }

    private void endStranger(long now) {
        if (strangers > 0) {
            strangers--;
            for (ShadowQueue each : shadows) {
                each.endStranger(now);
            }
        }
    }

    /** One that ended in the moment of the beginning may not have been noticed. */
    private void recount(long now) {
        while (strangers > 0 && strangers > inUse.getAsInt() - running.size()) {
            endStranger(now);
        }
    }

    private void clear() {
        running.clear();
        strangers = 0;
        for (ShadowQueue each : shadows) {
            each.clear();
        }
    }

    TaskLimit.DryRunState state(long now) {
        for (ShadowQueue each : shadows) {
            each.catchUp(now);
        }
        return new TaskLimit.DryRunState(mostInUse, half.state(), same.state(), twice.state());
    }
}
