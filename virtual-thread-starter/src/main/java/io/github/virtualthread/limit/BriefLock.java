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

    @Override
    public void lock() {
        if (spin()) {
            return;
        }
        if (Thread.currentThread().isVirtual()) {
            super.lock();
        } else {
            lockWithoutTurn();
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

    /**
     * Whose turn it is may be a virtual thread that gets no carrier while bodies keep all of them busy: a platform thread does
     * not park behind it for longer than a moment.
     */
    private void lockWithoutTurn() {
        boolean interrupted = false;
        for (boolean locked = false; !locked; ) {
            try {
                locked = tryLock(1, TimeUnit.MILLISECONDS) || spin();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
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
