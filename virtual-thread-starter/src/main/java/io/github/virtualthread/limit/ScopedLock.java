package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.util.concurrent.locks.ReentrantLock;

/** A lock that a {@code try} with resources takes, and gives back. */
@Internal
public class ScopedLock extends ReentrantLock implements AutoCloseable {

    /** Creates a lock that nobody holds. */
    public ScopedLock() {}

    /**
     * Takes this lock, which costs no object. Blocks while another thread has it.
     *
     * @return this lock
     */
    public ScopedLock hold() {
        lock();
        return this;
    }

    @Override
    public void close() {
        unlock();
    }
}
