package io.github.virtualthread.limit;

/**
 * Sees every limit when it is made: those that are configured at the start, and those that changed properties add later.
 *
 * <p>Beans of this type are called in their order. One that throws at the start fails the start.
 */
@FunctionalInterface
public interface TaskLimitCustomizer {

    /**
     * Looks at a limit, and changes it if need be. Must not block.
     *
     * @param limit new limit, known by its {@link TaskLimit#name()}
     */
    void customize(TaskLimit limit);
}
