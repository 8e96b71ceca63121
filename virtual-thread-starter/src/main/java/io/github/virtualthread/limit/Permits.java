package io.github.virtualthread.limit;

import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A semaphore that can shrink below the number of permits that are taken. Then permits must come back before one is free. */
class Permits extends Semaphore {

    Permits(int permits) {
        super(permits);
    }

    final void add(int delta) {
        if (delta > 0) {
            release(delta);
        } else {
            reducePermits(-delta);
        }
    }

    /** The permits that nobody has taken, also if nobody may take them at this moment; below zero after it has shrunk. */
    int left() {
        return availablePermits();
    }

    /** How many of the permits of its limit it has. */
    int lent() {
        return Integer.MAX_VALUE;
    }

    /** Who lends them, null if nobody has to. */
    @Nullable
    PermitLease lease() {
        return null;
    }

    /** A call has found no permit, and waits or was refused. Needs no lock. */
    void missed(boolean refused) {}

    /** The number of permits of this limit has changed, or of one around it. Needs no lock. */
    void changed() {}

    /** Whether a call that finds no permit is refused, although it could wait. */
    boolean isRefused() {
        return false;
    }
}
