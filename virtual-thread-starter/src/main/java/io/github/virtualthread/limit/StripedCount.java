package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A count to which many threads add, seldom at the same place. Unlike the JDK's {@code LongAdder} it never grows: it can neither
 * want memory nor fail.
 */
@Internal
public final class StripedCount {

    private static final int STRIPES = 16;
    private static final int DISTANCE = 8; // in longs: a cache line

    private final AtomicLongArray stripes = new AtomicLongArray(STRIPES * DISTANCE);

    /** Creates a count of zero. */
    public StripedCount() {}

    /** Adds one. Throws nothing. */
    public void increment() {
        stripes.getAndIncrement(((int) Thread.currentThread().threadId() & (STRIPES - 1)) * DISTANCE);
    }

    /**
     * How many have been added.
     *
     * @return at least those that were added before this was called
     */
    public long sum() {
        long sum = 0;
        for (int i = 0; i < stripes.length(); i += DISTANCE) {
            sum += stripes.get(i);
        }
        return sum;
    }
}
