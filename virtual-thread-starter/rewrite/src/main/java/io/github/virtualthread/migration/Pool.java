package io.github.virtualthread.migration;

import org.jspecify.annotations.Nullable;

/**
 * The numbers of an executor. One without threads of its own has the numbers of a pool that does the same.
 *
 * @param core threads as long as its queue is not full
 * @param max threads when its queue is full
 * @param queue capacity of its queue
 * @param handlesRejections whether it does not just throw when it is full
 */
record Pool(Amount core, Amount max, Amount queue, boolean handlesRejections) {

    private static final String EXECUTION = "spring.task.execution.";

    static final Amount CORE_SIZE = new Amount(EXECUTION + "pool.core-size", 8);
    static final Amount MAX_SIZE = new Amount(EXECUTION + "pool.max-size", Integer.MAX_VALUE);
    static final Amount QUEUE_CAPACITY = new Amount(EXECUTION + "pool.queue-capacity", Integer.MAX_VALUE);

    /** Of Spring Boot. */
    static final Pool CONFIGURED = of(CORE_SIZE, MAX_SIZE, QUEUE_CAPACITY);

    /** Of Spring Boot with virtual threads. */
    static final Pool SIMPLE = fixed(new Amount(EXECUTION + "simple.concurrency-limit", Integer.MAX_VALUE));

    /** A thread for each call. */
    static final Pool UNLIMITED = of(Amount.of(0), Amount.UNBOUNDED, Amount.of(0));

    static Pool of(Amount core, Amount max, Amount queue) {
        return new Pool(core, max, queue, false);
    }

    static Pool fixed(Amount size) {
        return of(size, size, Amount.UNBOUNDED);
    }

    static Pool fixed(int size) {
        return fixed(Amount.of(size));
    }

    /** Null if a number is not known. */
    @Nullable
    Pool with(@Nullable Amount newCore, @Nullable Amount newMax, @Nullable Amount newQueue) {
        return newCore == null || newMax == null || newQueue == null
                ? null
                : new Pool(newCore, newMax, newQueue, handlesRejections);
    }

    Pool handlingRejections() {
        return new Pool(core, max, queue, true);
    }

    boolean isConfigured() {
        return core.setting() != null || max.setting() != null || queue.setting() != null;
    }
}
