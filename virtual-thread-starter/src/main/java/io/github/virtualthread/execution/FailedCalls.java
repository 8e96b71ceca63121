package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Ends calls that fail before they ask for a permit, as with a key that cannot be read. They fail as if their bodies had thrown:
 * listeners see each call as submitted and finished.
 *
 * @param engine the engine that would have run them
 */
@Internal
public record FailedCalls(TaskEngine engine) {

    private static final TaskBody NEVER = () -> null;

    /**
     * Ends what would have been a call of {@link TaskEngine#submit}. Never blocks.
     *
     * @param spec name and limit
     * @param failure why the body does not run
     * @return future of the failure
     */
    public CompletableFuture<@Nullable Object> submit(TaskSpec spec, Throwable failure) {
        Task task = engine.task(spec, NEVER, null);
        rejectUnqueued(task, failure);
        return task.future();
    }

    /**
     * Ends what would have been a call of {@link TaskEngine#execute}. Never blocks.
     *
     * @param spec name and limit
     * @param failure why the body does not run
     * @param handler gets the failure, on a virtual thread with the caller's context
     */
    public void execute(TaskSpec spec, Throwable failure, FailureHandler handler) {
        rejectUnqueued(engine.task(spec, NEVER, handler), failure);
    }

    /**
     * Ends what would have been a call of {@link TaskEngine#call}; the caller throws the failure.
     *
     * @param spec name and limit
     * @param failure why the body does not run
     */
    public void call(TaskSpec spec, Throwable failure) {
        if (spec.limit() != null) {
            CallerTask.fail(spec, failure);
        }
    }

    private void rejectUnqueued(Task task, Throwable failure) {
        Throwable reason = failure;
        try {
            task.observe();
        } catch (Throwable shortage) {
            reason = shortage;
        }
        engine.parts().live().begin(task);
        task.rejectUnqueued(reason);
    }
}
