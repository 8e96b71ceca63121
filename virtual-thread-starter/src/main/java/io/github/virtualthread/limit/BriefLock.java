package io.github.virtualthread.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A lock that is held for a few dozen nanoseconds, which callers and ending calls want at the same time: to park would take
 * much longer than to try again.
 */
@SuppressWarnings("serial")
final class BriefLock extends ReentrantLock {

    private static final int SPINS = 100;

    /**
     * Whose turn it is may be a virtual thread that gets no carrier. Bodies may keep all carriers busy, and those that are pinned
     * may want this very lock: a platform thread parks behind it for no longer than a moment, and a virtual thread not at all. To
     * park for a time takes memory when it begins and when it ends, and a virtual thread that finds none may be lost. Throws
     * nothing: a permit may be on its way.
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

    /** What an action gives that is run under this lock. */
    <T> T locked(Supplier<T> action) {
        lock();
        try {
            return action.get();
        } finally {
            unlock();
        }
    }
}
