package io.github.virtualthread.execution;

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
}
