package io.github.virtualthread.execution;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Runs code that is not a bean method on virtual threads and under limits. Inject it by its type.
 *
 * <p>Thread-safe. Shares permits, queues and shutdown with annotated methods. A call that names no limit has none, because the
 * default limit is for annotated methods only. A task sees the MDC and the registered context of its caller. Threads and
 * messages show its name: {@code Import.call} for a class {@code Import}, and {@code Orders.lambda} for a lambda in a class
 * {@code Orders}. Neither a task nor the name of a limit may be null.
 *
 * <p>If the value of a task is a future, it is returned as it is and not awaited, and the permit is given back before. So a task
 * should block until its work is done.
 */
public final class VirtualThreads {

    private static final String EXECUTOR = "VirtualThreads.executor";

    /** Begins the generated part of a class name: of lambdas, and of Spring's proxies. */
    private static final String GENERATED = "$$";

    final TaskEngine engine;
    final FailureHandler uncaught;

    /** See {@link Calls#byHand}. */
    VirtualThreads(TaskEngine engine, FailureHandler uncaught) {
        this.engine = engine;
        this.uncaught = uncaught;
    }

    /**
     * Runs a task on a virtual thread, without a limit. Never blocks.
     *
     * @param task what to run; may block
     * @param <T> type of its value
     * @return future of the value, of the exception of the task, unwrapped, or of a {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the application is stopping; {@code cancel(true)} interrupts
     *     the task
     */
    public <T extends @Nullable Object> CompletableFuture<T> submit(Callable<T> task) {
        return submit(null, null, task);
    }

    /**
     * Runs a task on a virtual thread, under a limit. Never blocks: the task waits for its permit, not the caller.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @param <T> type of its value
     * @return future of the value, of the exception of the task, unwrapped, or of a {@link
     *     io.github.virtualthread.limit.LimitExceededException} for a rejection, now or later; {@code cancel(true)} interrupts
     *     the task, or removes it from the queue
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public <T extends @Nullable Object> CompletableFuture<T> submit(String limit, Callable<T> task) {
        return submit(named(limit), null, task);
    }

    @SuppressWarnings("unchecked") // completed with what the callable returns
    <T extends @Nullable Object> CompletableFuture<T> submit(
            @Nullable String limit, @Nullable String key, Callable<T> task) {
        TaskSpec spec = spec(task, "call", limit, key);
        CompletableFuture<? extends @Nullable Object> future = engine.submit(spec, TaskBody.of(task));
        return (CompletableFuture<T>) future;
    }

    /**
     * Runs a task on a virtual thread without a result and without a limit. Never blocks. An exception of the task, or its
     * rejection, goes where those of {@code void} methods go: to the application's handler of uncaught exceptions, otherwise to
     * the log.
     *
     * @param task what to run; may block
     */
    public void execute(Runnable task) {
        execute(null, null, task);
    }

    /**
     * Runs a task on a virtual thread without a result, under a limit. Never blocks. An exception of the task, or its rejection,
     * goes where those of {@code void} methods go: to the application's handler of uncaught exceptions, otherwise to the log.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public void execute(String limit, Runnable task) {
        execute(named(limit), null, task);
    }

    void execute(@Nullable String limit, @Nullable String key, Runnable task) {
        TaskSpec spec = spec(task, "run", limit, key);
        TaskBody body = () -> {
            task.run();
            return null;
        };
        engine.execute(spec, body, uncaught);
    }

    /**
     * Runs a task on the current thread, under a limit. Blocks until it gets a permit, for the maximum wait of the limit. If the
     * limit has no maximum wait, a platform thread waits for 30 s at most. If the thread holds a permit of the limit, or of one
     * within it, the task runs at once under that permit.
     *
     * @param limit name of a limit
     * @param task what to run
     * @param <T> type of its value
     * @return value of the task
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     * @throws io.github.virtualthread.limit.LimitExceededException if the limit rejects the call, or the wait was too long
     * @throws InterruptedException if the current thread is interrupted while it waits
     * @throws Exception any exception of the task
     */
    public <T extends @Nullable Object> T call(String limit, Callable<T> task) throws Exception {
        return call(limit, null, task);
    }

    <T extends @Nullable Object> T call(String limit, @Nullable String key, Callable<T> task) throws Exception {
        return call(engine, spec(task, "call", named(limit), key), task);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // returns what the callable returns, null only if that may
    static <T extends @Nullable Object> T call(TaskEngine engine, TaskSpec spec, Callable<T> task) throws Exception {
        try {
            return (T) engine.call(spec, task::call);
        } catch (Throwable failure) {
            throw Failures.asException(failure);
        }
    }

    /**
     * Returns a task that takes a permit of a limit where it is called, such as in a fork of a {@code StructuredTaskScope} or in
     * any executor. It runs as with {@link #call}, but with the context of the thread that calls this method: the MDC, the
     * registered context and the authentication. What that thread lacks is absent in the task. Afterwards, the thread that runs
     * the task has its own context back. Of the deadlines of both threads, the earlier one counts. Never blocks.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @param <T> type of its value
     * @return task that waits for a permit on the thread that calls it, and throws what {@link #call} throws
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     * @throws io.github.virtualthread.limit.LimitExceededException if {@code nested} of the limit is {@code fail}, the current
     *     thread holds a permit that the task needs, and no other permit is free
     */
    public <T extends @Nullable Object> Callable<T> limited(String limit, Callable<T> task) {
        return limited(named(limit), null, task);
    }

    <T extends @Nullable Object> Callable<T> limited(String limit, @Nullable String key, Callable<T> task) {
        return LimitedTask.of(engine, spec(task, "call", limit, key), task);
    }

    /**
     * Runs tasks at the same time, each on a virtual thread, without a limit. Returns when all have succeeded.
     *
     * <p>No task outlives the call. The first failure interrupts the other tasks, and so does an interrupt of the caller. In both
     * cases this method waits until they have ended. A task that ignores interrupts delays it.
     *
     * @param tasks what to run; may block
     * @param <T> type of their values
     * @return values in the order of the tasks, unmodifiable; empty for no tasks
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception the exception of the first task that fails, unwrapped; or a {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the application is stopping
     */
    public <T extends @Nullable Object> List<T> all(Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return this.<T>fanOut(null, null, tasks).all();
    }

    /**
     * Runs tasks, each on a virtual thread, under a limit: as many at the same time as it has permits. Returns when all have
     * succeeded. Otherwise as {@link #all(Collection)}.
     *
     * <p>The caller takes no permit. If its thread holds one of the limit, or of one within it, it lends that permit: the tasks
     * run under it one after the other, and others at the same time under free permits. So the call cannot wait for itself.
     *
     * @param limit name of a limit
     * @param tasks what to run; may block
     * @param <T> type of their values
     * @return values in the order of the tasks, unmodifiable; empty for no tasks
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception the exception of the first task that fails, unwrapped; or a {@link
     *     io.github.virtualthread.limit.LimitExceededException} if the limit rejects one of them
     */
    public <T extends @Nullable Object> List<T> all(String limit, Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return this.<T>fanOut(named(limit), null, tasks).all();
    }

    /**
     * Runs tasks at the same time, each on a virtual thread, without a limit. Returns the value of the first that succeeds.
     *
     * <p>No task outlives the call. The first success interrupts the other tasks, and so does an interrupt of the caller. In both
     * cases this method waits until they have ended. A task that ignores interrupts delays it.
     *
     * @param tasks what to run, at least one; may block
     * @param <T> type of their values
     * @return value of the task that succeeded first
     * @throws IllegalArgumentException if there are no tasks
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception if all tasks fail: the exception of the first, unwrapped, with the others suppressed
     */
    public <T extends @Nullable Object> T anySuccessful(Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return this.<T>fanOut(null, null, tasks).any();
    }

    /**
     * Runs tasks, each on a virtual thread, under a limit: as many at the same time as it has permits. Returns the value of the
     * first that succeeds. Otherwise as {@link #anySuccessful(Collection)}. A caller that holds a permit of the limit lends it, as
     * with {@link #all(String, Collection)}.
     *
     * @param limit name of a limit
     * @param tasks what to run, at least one; may block
     * @param <T> type of their values
     * @return value of the task that succeeded first
     * @throws IllegalArgumentException if there are no tasks, or if the limit does not exist
     * @throws InterruptedException if the current thread is interrupted
     * @throws Exception if all tasks fail: the exception of the first, unwrapped, with the others suppressed
     */
    public <T extends @Nullable Object> T anySuccessful(String limit, Collection<? extends Callable<? extends T>> tasks)
            throws Exception {
        return this.<T>fanOut(named(limit), null, tasks).any();
    }

    /** Tasks that have not begun. Only a limit makes use of a key. */
    <T extends @Nullable Object> FanOut<T> fanOut(
            @Nullable String limit, @Nullable String key, Collection<? extends Callable<? extends T>> tasks) {
        return new FanOut<>(engine, List.copyOf(tasks), task -> spec(task, "call", limit, key));
    }

    private TaskSpec spec(Object task, String method, @Nullable String limit, @Nullable String key) {
        TaskSpec spec = engine.spec(taskName(Objects.requireNonNull(task, "task"), method), limit);
        return key == null ? spec : EngineSpec.of(spec).forOneCall(key, null);
    }

    /**
     * Returns a name of which there are as few as classes, so that threads and meters can carry it.
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

    /** Null is a mistake here: for no limit, the method without this parameter is called. */
    static String named(String limit) {
        return Objects.requireNonNull(limit, "limit");
    }

    /**
     * Returns virtual threads as an executor, without a limit. Never blocks.
     *
     * <p>As executors do, it throws a {@link io.github.virtualthread.limit.LimitExceededException} if a task is rejected at
     * once. A later rejection completes the future; for {@code execute} it goes where the failures of {@code void} methods
     * go, and so does an exception of a {@code Runnable}. {@code cancel(true)} on any of its futures interrupts the task.
     *
     * <p>A later rejection cannot complete the future of {@code CompletableFuture.supplyAsync} and of other stages: a caller that
     * waits for it waits forever. So bound the queue of an executor that a library gets by {@code queue-capacity}, not by {@code
     * max-wait}.
     *
     * @return executor; it need not be closed
     */
    public AsyncTaskExecutor executor() {
        return executor(null, null);
    }

    /**
     * Returns virtual threads under a limit as an executor. It shares the permits with all other calls under that limit. Never
     * blocks; rejections as with {@link #executor()}.
     *
     * @param limit name of a limit
     * @return executor; it need not be closed
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public AsyncTaskExecutor executor(String limit) {
        return executor(named(limit), null);
    }

    AsyncTaskExecutor executor(@Nullable String limit, @Nullable String key) {
        ExecutorView executor = new ExecutorView(engine, EXECUTOR, limit, key, uncaught);
        executor.spec(); // throws at once if the limit does not exist
        return executor;
    }

    /**
     * Returns the same calls for one key, such as a tenant or a customer. Under one limit, keys take turns, and {@code
     * permits-per-key} bounds the calls of each of them.
     *
     * @param key key of the calls
     * @return calls with that key; it may be kept
     */
    public KeyedVirtualThreads forKey(String key) {
        return new KeyedVirtualThreads(this, Objects.requireNonNull(key, "key"));
    }

    /**
     * Waits until no call runs or waits, neither of annotated methods nor by hand. Made for tests of methods that return
     * nothing. Blocks for the given time at most. Calls that run on their caller's own thread do not count, but those that
     * wait there for a permit do. Inside a task this never returns true, because that task runs.
     *
     * @param longest maximum time to wait, zero to check only
     * @return true if no call ran or waited
     * @throws InterruptedException if the current thread is interrupted while it waits
     */
    public boolean awaitIdle(Duration longest) throws InterruptedException {
        return engine.awaitIdle(longest);
    }
}
