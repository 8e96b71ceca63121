package io.github.virtualthread.execution;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Runs code for one key, such as a tenant or a customer, on virtual threads and under limits. Made by {@link
 * VirtualThreads#forKey}.
 *
 * <p>Under one limit, keys take turns, and {@code permits-per-key} bounds the calls of each of them. A call on a thread that holds
 * a permit of the limit runs under that permit and its key.
 *
 * <p>Thread-safe. Each method does what the method of {@link VirtualThreads} with the same name does.
 */
public final class KeyedVirtualThreads {

    private final VirtualThreads threads;
    private final String key;

    KeyedVirtualThreads(VirtualThreads threads, String key) {
        this.threads = threads;
        this.key = key;
    }

    /**
     * Runs a task on a virtual thread, under a limit. Never blocks.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @param <T> type of its value
     * @return future of the value, as that of {@link VirtualThreads#submit(String, Callable)}
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public <T extends @Nullable Object> CompletableFuture<T> submit(String limit, Callable<T> task) {
        return threads.submit(VirtualThreads.named(limit), key, task);
    }

    /**
     * Runs a task on a virtual thread without a result, under a limit. Never blocks. Failures go where those of {@link
     * VirtualThreads#execute(String, Runnable)} go.
     *
     * @param limit name of a limit
     * @param task what to run; may block
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public void execute(String limit, Runnable task) {
        threads.execute(VirtualThreads.named(limit), key, task);
    }

    /**
     * Runs a task on the current thread, under a limit. Blocks as {@link VirtualThreads#call} does.
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
        return threads.call(limit, key, task);
    }

    /**
     * Returns a task that takes a permit of a limit where it is called, as that of {@link VirtualThreads#limited} does. Each of its
     * calls has the key.
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
        return threads.limited(VirtualThreads.named(limit), key, task);
    }

    /**
     * Runs tasks, each on a virtual thread, under a limit. Returns when all have succeeded, as {@link VirtualThreads#all(String,
     * Collection)} does.
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
        return threads.<T>fanOut(VirtualThreads.named(limit), key, tasks).all();
    }

    /**
     * Runs tasks, each on a virtual thread, under a limit. Returns the value of the first that succeeds, as {@link
     * VirtualThreads#anySuccessful(String, Collection)} does.
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
        return threads.<T>fanOut(VirtualThreads.named(limit), key, tasks).any();
    }

    /**
     * Returns virtual threads under a limit as an executor: each of its tasks has the key. Otherwise as {@link
     * VirtualThreads#executor(String)}.
     *
     * @param limit name of a limit
     * @return executor; it need not be closed
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public AsyncTaskExecutor executor(String limit) {
        return threads.executor(VirtualThreads.named(limit), key);
    }
}
