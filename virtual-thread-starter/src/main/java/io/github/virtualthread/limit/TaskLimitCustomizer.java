package io.github.virtualthread.limit;

/**
 * Sees every limit when it is created: those that are configured at the start, and those that changed properties add later.
 *
 * <p>Beans of this type are called in their order. An exception at the start fails the start.
 */
@FunctionalInterface
public interface TaskLimitCustomizer {

    /**
     * Looks at a new limit, and changes it if necessary. Must not block.
     *
     * @param limit new limit
     */
    void customize(TaskLimit limit);
}
