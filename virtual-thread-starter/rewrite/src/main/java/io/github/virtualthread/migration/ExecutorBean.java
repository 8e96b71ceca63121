package io.github.virtualthread.migration;

import org.jspecify.annotations.Nullable;

/**
 * An executor of the application's own.
 *
 * @param limit name of the limit in its place
 * @param name as messages name it
 * @param pool its numbers, null if they are not known
 * @param isDecorated whether it has a decorator that may not be a bean
 * @param isTaskExecutor whether Spring takes it by type
 * @param isCandidate whether Spring considers it for methods that name none
 * @param isPrimary whether Spring prefers it
 */
record ExecutorBean(
        String limit,
        String name,
        @Nullable Pool pool,
        boolean isDecorated,
        boolean isTaskExecutor,
        boolean isCandidate,
        boolean isPrimary) {

    /** When another method creates a bean of the same name. */
    ExecutorBean or(ExecutorBean other) {
        return equals(other)
                ? this
                : new ExecutorBean(
                        limit, name, null, isDecorated || other.isDecorated, isTaskExecutor, isCandidate, isPrimary);
    }
}
