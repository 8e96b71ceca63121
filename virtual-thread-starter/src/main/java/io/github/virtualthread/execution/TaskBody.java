package io.github.virtualthread.execution;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What a task runs on its virtual thread.
 *
 * <p>A returned {@link java.util.concurrent.Future} or {@link java.util.concurrent.CompletionStage} is awaited: the task
 * ends when that one does.
 */
@FunctionalInterface
public interface TaskBody {

    /**
     * Runs the body. May block.
     *
     * @return result of the task, or a future of it
     * @throws Throwable whatever the body throws; it becomes the failure of the task as it is
     */
    @Nullable
    Object run() throws Throwable;

    /**
     * Whether a future that the body returns is awaited.
     *
     * @return false for a body whose value is what its caller asked for, also where that is a future
     */
    default boolean isAwaited() {
        return true;
    }

    /**
     * A body whose value is what its caller asked for.
     *
     * @param callable what to run
     * @return body of which nothing is awaited
     */
    static TaskBody of(Callable<? extends @Nullable Object> callable) {
        return new TaskBody() {

            @Override
            public @Nullable Object run() throws Exception {
                return callable.call();
            }

            @Override
            public boolean isAwaited() {
                return false;
            }
        };
    }
}
