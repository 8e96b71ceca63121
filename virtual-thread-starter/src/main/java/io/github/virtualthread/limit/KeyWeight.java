package io.github.virtualthread.limit;

/**
 * Weighs the keys that {@code key-weights} of their limit does not name. A bean of this type weighs the keys of all limits.
 *
 * <p>It is asked on the thread of a caller, when no other call of the key waits or runs: it should be quick, because that call waits
 * for it, and nobody else does. It is asked again when {@code key-weights} change.
 */
@FunctionalInterface
@SuppressWarnings("FunctionalInterfaceMethodChanged") // so each limit gets it when it is created
public interface KeyWeight extends TaskLimitCustomizer {

    /**
     * How many calls of a key get a permit for each call of a key of weight 1, while both wait.
     *
     * @param limit name of the limit
     * @param key key of the calls
     * @return from 0.1 to 10; of another number the nearest of these is used, and 1 if this throws. The first of these is logged
     */
    double of(String limit, String key);

    /** The limit weighs its keys by this from now on. */
    @Override
    default void customize(TaskLimit limit) {
        ((SemaphoreLimit) limit).weighBy(this);
    }
}
