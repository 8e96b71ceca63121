package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many calls run at once under one name.
 *
 * <p>Thread-safe. A call that finds no permit is a small object in a first-in, first-out queue; it does not hold a thread.
 *
 * @see <a href="https://openjdk.org/jeps/444">JEP 444</a>: bound virtual threads by semaphores, not by pools
 */
public sealed interface TaskLimit permits SemaphoreLimit {

    /**
     * Name used in {@code @VirtualThread("name")} and in every meter.
     *
     * @return the name, never blank
     */
    String name();

    /**
     * Maximum number of calls that run at once.
     *
     * @return number of permits, at least 1
     */
    int permits();

    /**
     * The pool that the permits are taken from. Until it has been read, which is when all singletons exist, the limit has 1
     * permit.
     *
     * @return source of the permits, null if the number is configured directly
     */
    @Nullable
    PermitsFrom permitsFrom();

    /**
     * Number of free permits at this moment.
     *
     * @return from 0 to {@link #permits()}
     */
    int available();

    /**
     * Number of calls that wait for a permit at this moment.
     *
     * @return from 0 to the capacity of the queue
     */
    int waiting();

    /**
     * How long the limit has been full. It is full from the moment a call finds no free permit, and waits or is rejected, until
     * a permit is free again or the last waiting call has got one.
     *
     * @return zero if the limit is not full at this moment
     */
    Duration saturated();

    /**
     * Number of calls that had a permit and gave it back, no matter how they ended.
     *
     * @return number since the limit was created
     */
    long completed();

    /**
     * Maximum number of calls that wait; one more is rejected at once.
     *
     * @return at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     */
    int queueCapacity();

    /**
     * Maximum wait; after it the call is rejected.
     *
     * @return more than zero, null for no maximum
     */
    @Nullable
    Duration maxWait();

    /**
     * What happens to a call that is made by a body that holds a permit of this limit, if no permit is free.
     *
     * @return whether it waits, with a warning, or is rejected
     */
    Nested nested();

    /**
     * Changes the number of permits. Growing starts waiting calls at once; shrinking takes effect as running calls end. Does
     * not block.
     *
     * @param permits maximum number of calls that run at once, at least 1
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    void resize(int permits);

    /**
     * Changes how many calls may wait. Calls that already wait stay. Does not block.
     *
     * @param queueCapacity at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     * @throws IllegalArgumentException if {@code queueCapacity} is negative
     */
    void setQueueCapacity(int queueCapacity);

    /**
     * Changes how long calls may wait, including those that already wait. Does not block.
     *
     * @param maxWait more than zero, null for no maximum
     * @throws IllegalArgumentException if {@code maxWait} is zero or negative
     */
    void setMaxWait(@Nullable Duration maxWait);
}
