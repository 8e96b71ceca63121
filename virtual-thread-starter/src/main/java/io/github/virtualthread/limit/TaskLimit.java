package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many calls run at once under one name.
 *
 * <p>Thread-safe. A call that finds no permit waits as an object in a first-in, first-out queue; no thread waits with it.
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
     * Most calls that run at once.
     *
     * @return number of permits, at least 1
     */
    int permits();

    /**
     * The pool that the permits are taken from. While it has not been read, which is before all singletons are there, the
     * limit has 1 permit.
     *
     * @return where they come from, null for a number of one's own
     */
    @Nullable
    PermitsFrom permitsFrom();

    /**
     * Permits that nobody holds at this moment.
     *
     * @return from 0 to {@link #permits()}
     */
    int available();

    /**
     * Calls that wait for a permit at this moment.
     *
     * @return from 0 to the capacity of the queue
     */
    int waiting();

    /**
     * How long the limit has been full. It is full from the moment in which a call finds no permit free, and waits or is
     * rejected, until a permit is free again, or the last call that waits has got one.
     *
     * @return zero if the limit is not full at this moment
     */
    Duration saturated();

    /**
     * Calls that have had a permit and have given it back, however they ended.
     *
     * @return number since the limit was made
     */
    long completed();

    /**
     * Most calls that may wait; one more is rejected at once.
     *
     * @return at least 0, {@link LimitSettings#UNBOUNDED} for any number
     */
    int queueCapacity();

    /**
     * Longest wait; then the call is rejected.
     *
     * @return more than zero, null for any time
     */
    @Nullable
    Duration maxWait();

    /**
     * What happens to a call made by a body that holds a permit of this limit, when no permit is free.
     *
     * @return whether it waits, with a warning, or is rejected
     */
    Nested nested();

    /**
     * Changes the number of permits. Growing starts waiting calls at once, shrinking takes effect as running calls end. Does
     * not block.
     *
     * @param permits most calls that may run at once, at least 1
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    void resize(int permits);

    /**
     * Changes how many calls may wait. Calls that wait already stay. Does not block.
     *
     * @param queueCapacity at least 0, {@link LimitSettings#UNBOUNDED} for any number
     * @throws IllegalArgumentException if {@code queueCapacity} is negative
     */
    void setQueueCapacity(int queueCapacity);

    /**
     * Changes how long calls may wait, those included that wait already. Does not block.
     *
     * @param maxWait more than zero, null for any time
     * @throws IllegalArgumentException if {@code maxWait} is zero or negative
     */
    void setMaxWait(@Nullable Duration maxWait);
}
