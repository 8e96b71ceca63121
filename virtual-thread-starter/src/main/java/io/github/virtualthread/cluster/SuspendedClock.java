package io.github.virtualthread.cluster;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * The time of {@link System#nanoTime()}, and the time for which the machine was suspended: on Linux that clock stands still meanwhile
 * ({@code CLOCK_MONOTONIC}). The wall clock shows it, as soon as somebody has set it: if it has gone further by more than a second,
 * the machine was suspended, or somebody has set it forward. Then leases end too early, which does no harm.
 */
final class SuspendedClock implements LongSupplier {

    /** A wall clock that has gone further by more than this says that the machine was suspended. */
    private static final long SHORTEST_SUSPENSION_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Less than this is what the two clocks differ by in any case. */
    private static final long SMALLEST_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final LongSupplier nanos;
    private final LongSupplier wallMillis;
    private final AtomicReference<Seen> seen; // of two threads that notice the same, one writes it

    /** What was seen last: how far the wall clock is ahead, and the time of all suspensions, in nanoseconds. */
    private record Seen(long ahead, long suspended) {}

    SuspendedClock() {
        this(System::nanoTime, System::currentTimeMillis);
    }

    SuspendedClock(LongSupplier nanos, LongSupplier wallMillis) {
        this.nanos = nanos;
        this.wallMillis = wallMillis;
        this.seen = new AtomicReference<>(new Seen(ahead(nanos.getAsLong()), 0));
    }

    private long ahead(long now) {
        return TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong()) - now;
    }

    @Override
    public long getAsLong() {
        long now = nanos.getAsLong();
        Seen before = Objects.requireNonNull(seen.get());
        long ahead = ahead(now);
        if (ahead - before.ahead > SHORTEST_SUSPENSION_NANOS) {
            // or this thread has stood still between its looks at the two clocks
            now = nanos.getAsLong();
            ahead = ahead(now);
        }
        long more = ahead - before.ahead;
        if (Math.abs(more) > SMALLEST_STEP_NANOS) {
            seen.compareAndSet(
                    before, new Seen(ahead, before.suspended + (more > SHORTEST_SUSPENSION_NANOS ? more : 0)));
        }
        return now + Objects.requireNonNull(seen.get()).suspended;
    }
}
