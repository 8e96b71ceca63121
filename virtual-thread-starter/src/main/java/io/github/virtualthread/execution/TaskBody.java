package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What a call runs.
 *
 * <p>If a task returns a {@link java.util.concurrent.Future} or a {@link java.util.concurrent.CompletionStage}, that is
 * awaited: the task ends when the future does.
 */
@Internal
@FunctionalInterface
public interface TaskBody {

    /**
     * Runs the body. May block.
     *
     * @return result of the call, or a future of it
     * @throws Throwable any failure; it becomes the failure of the call, unwrapped
     */
    @Nullable
    Object run() throws Throwable;

    /**
     * Whether a future that the body returns is awaited.
     *
     * @return false for a body whose value is the result of the call even if that is a future
     */
    default boolean isAwaited() {
        return true;
    }

    /**
     * Returns a body whose value is the result of the call even if that is a future.
     *
     * @param callable what to run
     * @return body that returns nothing to await
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
