package io.github.virtualthread.limit;

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
        for (int attempt = 0; attempt < SPINS; attempt++) {
            if (tryLock()) {
                return;
            }
            Thread.onSpinWait();
        }
        super.lock();
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
