package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;

/** Gets the failures of calls of which nobody has a future. May block. */
@Internal
@FunctionalInterface
public interface FailureHandler {

    /**
     * The body has thrown that, or could not be run.
     *
     * @param task name of the call
     * @param failure what it threw
     */
    void failed(String task, Throwable failure);

    /**
     * The limit or a stop has rejected the call, so its body never runs. The engine logs rejections with their number: see the
     * classes {@code Rejections} and {@code DrainCounts}. Does the same as {@link #failed} unless it is overridden.
     *
     * @param task name of the call
     * @param rejection why it was rejected
     */
    default void rejected(String task, Throwable rejection) {
        failed(task, rejection);
    }
}
