package io.github.virtualthread.test;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the calls that are inside some code at the same time. A stub of what a limit protects has one of these, so that a test
 * sees whether all calls of it pass the limit:
 *
 * <pre>{@code
 * try (var inside = calls.enter()) {
 *     return price;
 * }
 * }</pre>
 *
 * <p>Thread-safe. Does not block.
 */
public final class ConcurrentCalls {

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    /** Creates a count of 0. */
    public ConcurrentCalls() {}

    /**
     * Counts a call until it leaves.
     *
     * @return leaves when it is closed; a second time does nothing
     */
    public Inside enter() {
        int now = inside.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        AtomicBoolean left = new AtomicBoolean();
        return () -> {
            if (left.compareAndSet(false, true)) {
                inside.decrementAndGet();
            }
        };
    }

    /**
     * Number of calls that are inside at this moment.
     *
     * @return at least 0
     */
    public int now() {
        return inside.get();
    }

    /**
     * Maximum number of calls that were inside at the same time.
     *
     * @return maximum since this was created
     */
    public int most() {
        return most.get();
    }

    /** A call is inside until this is closed. */
    @FunctionalInterface
    public interface Inside extends AutoCloseable {

        /** The call leaves. Does nothing the second time. */
        @Override
        void close();
    }
}
