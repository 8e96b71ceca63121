package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.util.function.SingletonSupplier;

/**
 * The engine under one limit as an executor of Spring and the JDK. A rejection before the call returns is thrown, as executors
 * must do.
 */
@Internal
public final class ExecutorView implements AsyncTaskExecutor {

    private static final Logger logger = LoggerFactory.getLogger(ExecutorView.class);

    private final TaskEngine engine;
    private final String name;
    private final @Nullable String limit;
    private final @Nullable String key;
    private final FailureHandler uncaught;
    private final SingletonSupplier<TaskSpec> spec;
    private final boolean isOfMethod;

    /**
     * Creates an executor that looks up its limit when it is used first.
     *
     * @param name name of all tasks
     * @param limit limit of all tasks, null for none
     * @param key key of all tasks, null for none
     */
    ExecutorView(
            TaskEngine engine, String name, @Nullable String limit, @Nullable String key, FailureHandler uncaught) {
        this(engine, name, limit, key, uncaught, SingletonSupplier.of(() -> engine.spec(name, limit)));
    }

    ExecutorView(
            TaskEngine engine,
            String name,
            @Nullable String limit,
            @Nullable String key,
            FailureHandler uncaught,
            SingletonSupplier<TaskSpec> spec) {
        this.engine = engine;
        this.name = name;
        this.limit = limit;
        this.key = key;
        this.uncaught = uncaught;
        this.spec = spec;
        this.isOfMethod = false;
    }

    private ExecutorView(ExecutorView executor, String method) {
        this.engine = executor.engine;
        this.name = method;
        this.limit = executor.limit;
        this.key = executor.key;
        this.uncaught = executor.uncaught;
        this.spec = SingletonSupplier.of(() -> engine.spec(name, limit));
        this.isOfMethod = true;
    }

    /**
     * Returns an executor for beans of Spring. It never fails, because Spring Boot's metrics create all executors before the start-up
     * check can report an unknown limit.
     *
     * @param threads calls by hand of the same engine
     * @param name name of all its tasks, in threads and messages
     * @param limit name of its limit, {@code none} for no limit
     * @return executor that shares the permits; it looks up its limit when it is used first
     */
    public static ExecutorView of(VirtualThreads threads, String name, String limit) {
        return new ExecutorView(threads.engine, name, LimitNames.isNone(limit) ? null : limit, null, threads.uncaught);
    }

    /**
     * The limit of all its tasks.
     *
     * @return null for none
     * @throws IllegalArgumentException if it does not exist
     */
    public @Nullable TaskLimit limit() {
        return spec().limit();
    }

    /** What all tasks share. Throws if the limit does not exist. */
    TaskSpec spec() {
        return spec.obtain();
    }

    /**
     * Returns an executor of the same limit for the calls of one method.
     *
     * @param method name of all its tasks, in threads and messages
     * @return executor that shares the permits
     */
    public ExecutorView named(String method) {
        return new ExecutorView(this, method);
    }

    @Override
    public void execute(Runnable task) {
        Objects.requireNonNull(task, "task");
        TaskBody body = () -> {
            task.run();
            return null;
        };
        boolean isAwaited = task instanceof Future<?> || task instanceof AsynchronousCompletionTask;
        executeInOwnTime(body, isAwaited, new OfRunnable(task));
    }

    /**
     * Runs a body without a result. It does not inherit the deadline of its caller. Never blocks.
     *
     * @param body what to run
     * @param handler gets the exception of the body, or a rejection that comes after this has returned, with the caller's
     *     context, on a virtual thread
     * @throws io.github.virtualthread.limit.LimitExceededException if the task is rejected at once
     */
    public void execute(TaskBody body, FailureHandler handler) {
        executeInOwnTime(body, false, handler);
    }

    /** Somebody may wait for a body only if another future belongs to it. */
    private void executeInOwnTime(TaskBody body, boolean isAwaited, FailureHandler handler) {
        Deadline ofCaller = Deadline.open(null);
        try {
            Task task = task(body);
            if (!isAwaited) {
                task.unawaited();
            }
            execute(task, handler);
        } finally {
            Deadline unused = Deadline.open(ofCaller);
        }
    }

    private void execute(Task task, FailureHandler handler) {
        long caller = Thread.currentThread().threadId(); // not the thread, which a waiting task would keep alive
        Future<?> unused = engine.submitOrThrow(task).whenComplete((nothing, outcome) -> {
            Throwable failure = outcome == null ? null : TaskFuture.thrown(outcome);
            if (failure != null && Thread.currentThread().threadId() == caller) {
                failedAlready(task, handler, failure);
            } else if (failure != null) {
                task.report(handler, failure);
            }
        });
    }

    /** The task had already failed. A handler may block, so it does not run on the caller's thread but on one of its own. */
    private void failedAlready(Task task, FailureHandler handler, Throwable failure) {
        EngineParts parts = engine.parts();
        CapturedContext context = parts.propagation().capture();
        Runnable report = () -> task.report(handler, failure);
        try {
            parts.threads().start(EngineSpec.of(spec()).threads, () -> ContextPropagation.run(context, report));
        } catch (Throwable shortage) {
            Failures.suppress(failure, shortage);
            report.run();
        }
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
    public CompletableFuture<Void> submitCompletable(Runnable task) {
        return submitCompletable(Executors.<Void>callable(Objects.requireNonNull(task, "task"), null));
    }

    @Override
    @SuppressWarnings("unchecked") // completed with what the callable returns
    public <T> CompletableFuture<T> submitCompletable(Callable<T> task) {
        Objects.requireNonNull(task, "task");
        CompletableFuture<? extends @Nullable Object> future = engine.submitOrThrow(task(TaskBody.of(task)));
        return (CompletableFuture<T>) future;
    }

    private Task task(TaskBody body) {
        Task task = engine.task(key == null ? spec() : EngineSpec.of(spec()).forOneCall(key, null), body, null);
        if (!isOfMethod) {
            task.ofExecutor();
        }
        return task;
    }

    /** As in {@code VirtualThreads.executor under limit 'db'}. */
    @Override
    public String toString() {
        return "%s under limit '%s'".formatted(name, limit == null ? LimitNames.NONE : limit);
    }

    /** If a task has not run, a thread that waits for its future would wait forever. That of a CompletableFuture is hidden. */
    private final class OfRunnable implements FailureHandler {

        private final Runnable runnable;

        OfRunnable(Runnable runnable) {
            this.runnable = runnable;
        }

        @Override
        public void failed(String task, Throwable failure) {
            try {
                cancel();
            } finally {
                uncaught.failed(task, failure);
            }
        }

        @Override
        public void rejected(String task, Throwable rejection) {
            if (runnable instanceof AsynchronousCompletionTask
                    && !engine.parts().gate().isStopped()) {
                SafeLog.write(
                        logger,
                        Level.ERROR,
                        "{} accepted a task of a CompletableFuture, rejected it later, and cannot fail that future: a caller"
                                + " that waits for it waits forever. Bound the queue of limit '{}' by queue-capacity instead"
                                + " of max-wait: a full queue is reported to the caller at once.",
                        task,
                        spec().limitName(),
                        null);
            }
            try {
                cancel();
            } finally {
                uncaught.rejected(task, rejection);
            }
        }

        private void cancel() {
            if (runnable instanceof Future<?> future) {
                future.cancel(false);
            }
        }
    }
}
