package io.github.virtualthread.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the caller gets. Users may do with it whatever a {@link CompletableFuture} allows; the task keeps its books apart
 * from it and only hears that nobody waits for its body any more.
 */
final class TaskFuture extends CompletableFuture<@Nullable Object> {

    private volatile @Nullable Task task;

    TaskFuture(Task task) {
        this.task = task;
    }

    /** The task has ended: a future that stays reachable keeps neither body nor arguments alive. */
    void detach() {
        task = null;
    }

    boolean succeed(@Nullable Object value) {
        return super.complete(value);
    }

    boolean fail(Throwable failure) {
        return super.completeExceptionally(failure);
    }

    /** A waiting task leaves its queue and never runs. A running one is interrupted if that is allowed. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        Task cancelled = task;
        boolean done = super.cancel(mayInterruptIfRunning);
        if (cancelled != null) {
            cancelled.abandon();
            if (done && mayInterruptIfRunning) {
                cancelled.interrupt();
            }
        }
        return done;
    }

    @Override
    public boolean complete(@Nullable Object value) {
        return abandoned(super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return abandoned(super.completeExceptionally(failure));
    }

    /** The inherited method would complete this future without a word to the task. */
    @Override
    public CompletableFuture<@Nullable Object> completeAsync(
            Supplier<? extends @Nullable Object> supplier, Executor executor) {
        executor.execute(() -> {
            if (!isDone()) {
                try {
                    complete(supplier.get());
                } catch (Throwable failure) {
                    completeExceptionally(failure);
                }
            }
        });
        return this;
    }

    @Override
    public void obtrudeValue(@Nullable Object value) {
        super.obtrudeValue(value);
        abandoned(true);
    }

    @Override
    public void obtrudeException(Throwable failure) {
        super.obtrudeException(failure);
        abandoned(true);
    }

    private boolean abandoned(boolean completed) {
        Task abandoned = task;
        if (completed && abandoned != null) {
            abandoned.abandon();
        }
        return completed;
    }
}
