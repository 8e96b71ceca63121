package io.github.virtualthread.execution;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Draft of the contract. */
public final class TaskEngine {

    /** Spec of calls under one name: checked once, used by every call. {@code limit} null: no limit. */
    public TaskSpec spec(String name, @Nullable String limit) {
        throw new UnsupportedOperationException();
    }

    /** Submits a body; every outcome comes through the future. Never blocks, never throws what the body throws. */
    public CompletableFuture<Object> submit(TaskSpec spec, TaskBody body) {
        throw new UnsupportedOperationException();
    }

    /** Submits a body nobody waits for; failure and rejection go to onFailure, on a virtual thread, with the caller's MDC. */
    public void execute(TaskSpec spec, TaskBody body, Consumer<Throwable> onFailure) {
        throw new UnsupportedOperationException();
    }
}
