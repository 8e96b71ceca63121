package io.github.virtualthread.execution;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Virtual threads and limits by hand, for what is no method of a bean. Injectable by its type.
 *
 * <p>Thread-safe. Shares permits, queues and shutdown with annotated methods. A call that names no limit has none: the
 * default limit is for annotated methods only. A task sees the MDC and the registered context of its caller. Its name, which
 * threads and messages show, is {@code Import.call} for a class {@code Import}, and {@code Orders.lambda} for a lambda that
 * stands in a class {@code Orders}. Neither a task nor the name of a limit may be null.
 *
 * <p>A value that is a future itself is handed on as it is, and the permit is back then: a body should block until its work
 * is done.
 */
public final class VirtualThreads {

    private static final String EXECUTOR = "VirtualThreads.executor";

    /** Begins the name of what is generated: lambdas, and proxies of Spring's. */
    private static final String GENERATED = "$$";

    private final TaskEngine engine;
    private final BiConsumer<String, Throwable> uncaught;

    /**
     * Calls by hand to an engine.
     *
     * @param engine runs the tasks
     * @param uncaught told the name of a task and its failure, where nobody has a future of it; on a virtual thread
     */
    public VirtualThreads(TaskEngine engine, BiConsumer<String, Throwable> uncaught) {
        this.engine = engine;
        this.uncaught = uncaught;
    }

    /**
     * Runs a task on a virtual thread, without a limit. Never blocks.
     *
     * @param task what to run; may block
     * @param <T> type of its value
     * @return gets the value, the exception of the task as it is, or {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the application stops; {@code cancel(true)} interrupts
     *     the task
     */
    public <T extends @Nullable Object> CompletableFuture<T> submit(Callable<T> task) {
        return submitUnder(null, task);
    }

    /**
     * Runs a task on a virtual thread, under a limit. Never blocks: the task waits for its permit, not the caller.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @param <T> type of its value
     * @return gets the value, the exception of the task as it is, or {@link
     *     io.github.virtualthread.limit.LimitExceededException} for a refusal, at once or later; {@code cancel(true)}
     *     interrupts the task, or takes it out of the queue
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     */
    public <T extends @Nullable Object> CompletableFuture<T> submit(String limit, Callable<T> task) {
        return submitUnder(named(limit), task);
    }

    @SuppressWarnings("unchecked") // completed with what the callable returns
    private <T extends @Nullable Object> CompletableFuture<T> submitUnder(@Nullable String limit, Callable<T> task) {
        TaskSpec spec = spec(task, "call", limit);
        CompletableFuture<? extends @Nullable Object> future = engine.submit(spec, TaskBody.of(task));
        return (CompletableFuture<T>) future;
    }

    /**
     * Runs a task on a virtual thread that nobody waits for, without a limit. Never blocks. What the task throws, or why it
     * was refused, goes where the failures of {@code void} methods go: to the application's handler of uncaught exceptions,
     * else to the log.
     *
     * @param task what to run; may block
     */
    public void execute(Runnable task) {
        executeUnder(null, task);
    }

    /**
     * Runs a task on a virtual thread that nobody waits for, under a limit. Never blocks. What the task throws, or why it
     * was refused, goes where the failures of {@code void} methods go: to the application's handler of uncaught exceptions,
     * else to the log.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     */
    public void execute(String limit, Runnable task) {
        executeUnder(named(limit), task);
    }

    private void executeUnder(@Nullable String limit, Runnable task) {
        TaskSpec spec = spec(task, "run", limit);
        TaskBody body = () -> {
            task.run();
            return null;
        };
        engine.execute(spec, body, failure -> uncaught.accept(spec.name(), failure));
    }

    /**
     * Runs a task on the current thread, under a limit. Blocks until there is a permit: as long as the limit lets calls
     * wait, and where it sets no bound, on a platform thread at most 30 s.
     *
     * @param limit name of a limit
     * @param task what to run
     * @param <T> type of its value
     * @return value of the task
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     * @throws io.github.virtualthread.limit.LimitExceededException if the limit refuses the call, or the wait was too long
     * @throws InterruptedException if the current thread is interrupted while it waits
     * @throws Exception whatever the task throws
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // returns what the callable returns, null only if that may
    public <T extends @Nullable Object> T call(String limit, Callable<T> task) throws Exception {
        TaskSpec spec = spec(task, "call", named(limit));
        try {
            return (T) engine.call(spec, task::call);
        } catch (Throwable failure) {
            throw Failures.asException(failure);
        }
    }

    /**
     * Runs tasks at the same time, each on a virtual thread, without a limit; returns when all have succeeded.
     *
     * <p>Nothing outlives the call: the first failure interrupts the other tasks, and so does an interrupt of the caller,
     * and in each case this waits until they have ended. A task that ignores interrupts delays it until it is done.
     *
     * @param tasks what to run; may block
     * @param <T> type of their values
     * @return values in the order of the tasks, unmodifiable; empty if there are no tasks
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception whatever the first task that fails throws, as it is; or a {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the application stops
     */
    public <T extends @Nullable Object> List<T> all(Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return VirtualThreads.<T>fanOut(engine, null, tasks).all();
    }

    /**
     * Runs tasks each on a virtual thread, under a limit, as many at the same time as there are permits; returns when all
     * have succeeded. Otherwise as {@link #all(Collection)}.
     *
     * <p>The caller takes no permit. If it holds one of the same limit already, it may wait for ever.
     *
     * @param limit name of a limit
     * @param tasks what to run; may block
     * @param <T> type of their values
     * @return values in the order of the tasks, unmodifiable; empty if there are no tasks
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception whatever the first task that fails throws, as it is; or a {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the limit refuses one of them
     */
    public <T extends @Nullable Object> List<T> all(String limit, Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return VirtualThreads.<T>fanOut(engine, named(limit), tasks).all();
    }

    /**
     * Runs tasks at the same time, each on a virtual thread, without a limit; returns the value of the first that succeeds.
     *
     * <p>Nothing outlives the call: the first success interrupts the other tasks, and so does an interrupt of the caller,
     * and in each case this waits until they have ended. A task that ignores interrupts delays it until it is done.
     *
     * @param tasks what to run, at least one; may block
     * @param <T> type of their values
     * @return value of the task that came first
     * @throws IllegalArgumentException if there are no tasks
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception if all tasks fail: whatever the first of them throws, as it is, with the others suppressed
     */
    public <T extends @Nullable Object> T anySuccessful(Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return VirtualThreads.<T>fanOut(engine, null, atLeastOne(tasks)).any();
    }

    /**
     * Runs tasks each on a virtual thread, under a limit, as many at the same time as there are permits; returns the value
     * of the first that succeeds. Otherwise as {@link #anySuccessful(Collection)}.
     *
     * @param limit name of a limit
     * @param tasks what to run, at least one; may block
     * @param <T> type of their values
     * @return value of the task that came first
     * @throws IllegalArgumentException if there are no tasks, or there is no such limit
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception if all tasks fail: whatever the first of them throws, as it is, with the others suppressed
     */
    public <T extends @Nullable Object> T anySuccessful(String limit, Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return VirtualThreads.<T>fanOut(engine, named(limit), atLeastOne(tasks)).any();
    }

    private static <T extends @Nullable Object> FanOut<T> fanOut(
            TaskEngine engine, @Nullable String limit, Collection<? extends Callable<? extends T>> tasks) {
        return new FanOut<>(engine, List.copyOf(tasks), task -> engine.recipe(taskName(task, "call"), limit, null));
    }

    private TaskSpec spec(Object task, String method, @Nullable String limit) {
        return engine.spec(taskName(Objects.requireNonNull(task, "task"), method), limit);
    }

    /**
     * A name as few as there are classes, so that threads and meters can carry it.
     *
     * @param body what the task runs
     * @param method method that is called on it
     * @return {@code Import.call} for a class of its own, {@code Orders.lambda} for a lambda in {@code Orders}
     */
    static String taskName(Object body, String method) {
        String name = body.getClass().getName();
        int end = name.indexOf(GENERATED);
        String written = end < 0 ? name : name.substring(0, end);
        return simpleName(written) + "."
                + (name.startsWith("Lambda", end + GENERATED.length()) && end > 0 ? "lambda" : method);
    }

    /** The last part that is a name: {@code Inner} of {@code Outer$Inner$1}. */
    private static String simpleName(String name) {
        String[] parts = name.substring(name.lastIndexOf('.') + 1).split("\\$");
        for (int i = parts.length - 1; i > 0; i--) {
            // a local class has a number in front
            String part = parts[i].replaceFirst("^\\d+", "");
            if (!part.isEmpty()) {
                return part;
            }
        }
        return parts.length == 0 ? name : parts[0];
    }

    /** Null is a mistake here: whoever wants no limit calls the method without one. */
    private static String named(String limit) {
        return Objects.requireNonNull(limit, "limit");
    }

    private static <C extends Collection<?>> C atLeastOne(C tasks) {
        if (tasks.isEmpty()) {
            throw new IllegalArgumentException("anySuccessful needs at least one task, got none");
        }
        return tasks;
    }

    /**
     * Virtual threads as an executor, without a limit. Never blocks.
     *
     * <p>As executors do, it throws: a {@link io.github.virtualthread.limit.LimitExceededException} where a task is refused
     * at once. A later refusal comes through the future; for {@code execute} it goes where the failures of {@code void}
     * methods go, as does what a {@code Runnable} throws. {@code cancel(true)} on any of its futures interrupts.
     *
     * @return executor; nothing has to be closed
     */
    public AsyncTaskExecutor executor() {
        return new ExecutorView(engine, engine.recipe(EXECUTOR, null, null), uncaught);
    }

    /**
     * Virtual threads under a limit as an executor; shares the permits with all other calls that name the limit. Never
     * blocks; refusals as with {@link #executor()}.
     *
     * @param limit name of a limit
     * @return executor; nothing has to be closed
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     */
    public AsyncTaskExecutor executor(String limit) {
        return new ExecutorView(engine, engine.recipe(EXECUTOR, named(limit), null), uncaught);
    }

    /**
     * Waits until no call runs or waits, neither of annotated methods nor by hand; for tests of methods that return
     * nothing. Blocks for the longest time at most. Calls that run on their caller's own thread do not count, those that wait
     * there for a permit do. From inside a task it never succeeds, since that one runs.
     *
     * @param longest longest time to wait, zero to only look
     * @return whether it came to that
     * @throws InterruptedException if the current thread is interrupted while it waits
     */
    public boolean awaitIdle(Duration longest) throws InterruptedException {
        return engine.awaitIdle(longest);
    }
}
