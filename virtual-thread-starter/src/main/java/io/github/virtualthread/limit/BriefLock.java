package io.github.virtualthread.limit;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A lock that is held for a few dozen nanoseconds. Callers and ending calls want it at the same time, and parking would take much
 * longer than trying again.
 */
final class BriefLock extends ScopedLock {

    private static final int SPINS = 100;

    /**
     * The next in line may be a virtual thread that gets no carrier, because bodies keep all carriers busy, and pinned bodies may
     * want this very lock. So a platform thread parks for a moment only, and a virtual thread does not park at all: a timed park
     * needs memory when it begins and when it ends, and a virtual thread that finds none may be lost. Throws nothing, because a
     * permit may be on its way.
     */
    @Override
    public void lock() {
        boolean interrupted = false;
        boolean locked = spin();
        while (!locked) {
            try {
                locked = Thread.currentThread().isVirtual() ? spin() : tryLock(1, TimeUnit.MILLISECONDS) || spin();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean spin() {
        for (int attempt = 0; attempt < SPINS; attempt++) {
            if (tryLock()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /** Runs an action under this lock. */
    <T> T locked(Supplier<T> action) {
        try (ScopedLock held = hold()) {
            return action.get();
        }
    }
}
