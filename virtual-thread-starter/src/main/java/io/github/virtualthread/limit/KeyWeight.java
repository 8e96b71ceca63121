package io.github.virtualthread.limit;

/**
 * Weighs the keys that {@code key-weights} of their limit does not name. A bean of this type weighs the keys of all limits.
 *
 * <p>It is asked when a key makes its first call, and again when {@code key-weights} change, while the limit is held up: it must not
 * block.
 */
@FunctionalInterface
@SuppressWarnings("FunctionalInterfaceMethodChanged") // so each limit gets it when it is created
public interface KeyWeight extends TaskLimitCustomizer {

    /**
     * How many calls of a key get a permit for each call of a key of weight 1, while both wait.
     *
     * @param limit name of the limit
     * @param key key of the calls
     * @return from 0.01 to 100; if it is another number, or this throws, the weight is 1
     */
    double of(String limit, String key);

    /** The limit weighs its keys by this from now on. */
    @Override
    default void customize(TaskLimit limit) {
        ((SemaphoreLimit) limit).weighBy(this);
    }
}
