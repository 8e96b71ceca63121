package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * The engine under one limit as an executor of Spring and the JDK. A rejection before the call returns is thrown, as executors
 * must do.
 *
 * @param recipe name and limit of all tasks
 * @param key key of all tasks, null for none
 */
record ExecutorView(
        TaskEngine engine, Recipe recipe, @Nullable String key, BiConsumer<String, Throwable> uncaught)
        implements AsyncTaskExecutor {

    /** A task without a result does not inherit the deadline of its caller. */
    @Override
    public void execute(Runnable task) {
        Deadline ofCaller = Deadline.open(null);
        try {
            executeInOwnTime(task);
        } finally {
            Deadline unused = Deadline.open(ofCaller);
        }
    }

    private void executeInOwnTime(Runnable task) {
        long caller = Thread.currentThread().threadId(); // not the thread, which a waiting task would keep alive
        Future<?> unused = submitCompletable(task).whenComplete((nothing, outcome) -> {
            Throwable failure = outcome == null ? null : TaskFuture.thrown(outcome);
            if (failure != null && Thread.currentThread().threadId() == caller) {
                failedAlready(task, failure);
            } else if (failure != null) {
                failed(task, failure);
            }
        });
    }

    /** The task had already failed. A handler may block, so it does not run on the caller's thread but on one of its own. */
    private void failedAlready(Runnable task, Throwable failure) {
        CapturedContext context = recipe.parts().propagation().capture();
        try {
            recipe.parts()
                    .threads()
                    .start(recipe.threads(), () -> ContextPropagation.run(context, () -> failed(task, failure)));
        } catch (Throwable noThread) {
            Failures.suppress(failure, noThread);
            failed(task, failure);
        }
    }

    /** On a virtual thread, with the context of the caller. */
    private void failed(Runnable task, Throwable failure) {
        if (task instanceof Future<?> future) {
            // it has not run: a thread that waits for it would wait forever
            Failures.report(reported -> future.cancel(false), recipe, failure);
        }
        Failures.report(reported -> uncaught.accept(recipe.name(), reported), recipe, failure);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return submitCompletable(task);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return submitCompletable(task);
    }

    /** The inherited method wraps the task, and a cancel would not reach it. */
    @Override
    @SuppressWarnings("unchecked") // completed with null, or by its caller
    public CompletableFuture<Void> submitCompletable(Runnable task) {
        Objects.requireNonNull(task, "task");
        CompletableFuture<?> future = engine.submitOrThrow(ofOneTask(), () -> {
            task.run();
            return null;
        });
        return (CompletableFuture<Void>) future;
    }

    @Override
    @SuppressWarnings("unchecked") // completed with what the callable returns
    public <T> CompletableFuture<T> submitCompletable(Callable<T> task) {
        Objects.requireNonNull(task, "task");
        CompletableFuture<? extends @Nullable Object> future = engine.submitOrThrow(ofOneTask(), TaskBody.of(task));
        return (CompletableFuture<T>) future;
    }

    private Recipe ofOneTask() {
        return key == null ? recipe : recipe.forOneCall(key, null);
    }

    /** As in {@code VirtualThreads.executor under limit 'db'}. */
    @Override
    public String toString() {
        return "%s under limit '%s'".formatted(recipe.name(), recipe.limitName());
    }
}
