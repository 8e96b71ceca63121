package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Completes the futures of tasks that do not end by themselves, for a thread that must not run their continuations, because
 * those may block.
 *
 * <p>Waits for the futures, but not for their continuations. An interrupt does not shorten the wait.
 *
 * @param threads give their class loader to the threads used here
 * @param completion returns the action that completes the future of a task
 */
record Completer(TaskThreads threads, Function<Task, Runnable> completion) {

    private static final long LOOK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** How long each attempt may take. */
    static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(1);

    /** How long the last attempt may take: its work needs only a processor. */
    private static final Duration LONGEST_LAST_ATTEMPT = Duration.ofSeconds(10);

    private static final int MOST_FUTURES_AT_ONCE = 50_000; // each takes a part of a stack
    private static final int MOST_NESTED_FUTURES = 50; // on a thread with an ordinary stack
    private static final int STACK_BYTES = 1 << 20;
    private static final int STACK_BYTES_OF_ONE = 1 << 12;

    /**
     * Completes the futures of running tasks on virtual threads first. If no carrier was free, or continuations keep those, a
     * platform thread completes the rest.
     *
     * @param running called before each attempt; tasks with incomplete futures count
     * @param unreported tasks that are rejected, and whose reports nobody has claimed yet
     */
    void complete(Supplier<List<Task>> running, Supplier<List<Task>> unreported) {
        byTurns(open(running.get().stream()), threads.virtualThreads(), Integer.MAX_VALUE);
        List<Task> left = open(Stream.concat(running.get().stream(), unreported.get().stream()));
        for (int done = 0; done < left.size(); done += MOST_FUTURES_AT_ONCE) {
            all(left.subList(done, Math.min(left.size(), done + MOST_FUTURES_AT_ONCE)), LONGEST_LAST_ATTEMPT);
        }
    }

    private static List<Task> open(Stream<Task> tasks) {
        return tasks.filter(task -> !task.future().isDone()).toList();
    }

    /**
     * Completes the futures on several threads that take turns; waits for a second at most. A future may stay incomplete: if
     * continuations block all threads, if no thread could be started, or if none gets a processor.
     *
     * @param most maximum number of threads
     */
    void byTurns(List<Task> tasks, ThreadFactory factory, int most) {
        AtomicInteger next = new AtomicInteger();
        Runnable turns = () -> {
            for (int turn = next.getAndIncrement(); turn < tasks.size(); turn = next.getAndIncrement()) {
                Task task = tasks.get(turn);
                if (!task.future().isDone()) {
                    threads.adopt(task.threads());
                    attempt(task, () -> completion.apply(task).run());
                }
            }
        };
        if (start(turns, factory, Math.min(most, tasks.size()))) {
            await(tasks, LONGEST_ATTEMPT);
        }
    }

    /** The threads that could be started take the turns of the others. Returns whether any was started. */
    private static boolean start(Runnable turns, ThreadFactory factory, int number) {
        for (int started = 0; started < number; started++) {
            try {
                factory.newThread(turns).start();
            } catch (Throwable shortage) {
                return started > 0;
            }
        }
        return number > 0;
    }

    /**
     * Completes all futures on one platform thread, no matter what their continuations do. If that cannot be started, on the
     * current thread.
     *
     * @param longest maximum time to wait for the futures
     */
    void all(List<Task> tasks, Duration longest) {
        long stack = STACK_BYTES + (long) STACK_BYTES_OF_ONE * tasks.size();
        all(tasks, longest, TaskTimer.daemon().stackSize(stack).factory());
    }

    void all(List<Task> tasks, Duration longest, ThreadFactory factory) {
        if (tasks.isEmpty()) {
            return;
        }
        Runnable nested = () -> {
            threads.adopt(tasks.get(0).threads());
            nested(tasks, tasks.size());
        };
        if (start(nested, factory, 1)) {
            await(tasks, longest);
        } else {
            boolean interrupted = Thread.interrupted();
            nested(tasks, MOST_NESTED_FUTURES);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Exceptions that complete a future get the stack of this method, not that of the nested calls below. */
    private void nested(List<Task> tasks, int depth) {
        List<Runnable> completions = tasks.stream().map(this::completion).toList();
        nested(tasks, completions, new AtomicInteger(), depth);
    }

    private Runnable completion(Task task) {
        try {
            return completion.apply(task);
        } catch (Throwable shortage) {
            return () -> completion.apply(task).run(); // perhaps later
        }
    }

    /**
     * Completes each future inside the completion of the one before. The continuation that was added last runs first, so all
     * futures are complete before any other continuation runs.
     *
     * @param depth maximum number of nested completions
     */
    private void nested(List<Task> tasks, List<Runnable> completions, AtomicInteger next, int depth) {
        Thread here = Thread.currentThread();
        while (next.get() < tasks.size()) {
            int turn = next.getAndIncrement();
            Task task = tasks.get(turn);
            attempt(task, () -> {
                if (depth > 0) {
                    Future<?> unused = task.future().whenComplete((value, failure) -> {
                        if (Thread.currentThread().equals(here)) { // otherwise somebody else has completed it
                            nested(tasks, completions, next, depth - 1);
                        }
                    });
                }
            });
            attempt(task, completions.get(turn));
        }
    }

    private static void attempt(Task task, Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) { // the other futures must be completed too
            SafeLog.write(() -> Failures.uncaught(task.spec(), Thread.currentThread(), failure));
        } finally {
            Thread.interrupted(); // a continuation of one future may leave it behind for the next
        }
    }

    /** Checks repeatedly, without a lock: see {@link LiveTasks#await}. */
    private static void await(List<Task> tasks, Duration longest) {
        boolean interrupted = false;
        long begin = System.nanoTime();
        for (int done = 0; done < tasks.size() && System.nanoTime() - begin < longest.toNanos(); ) {
            if (tasks.get(done).future().isDone()) {
                done++;
            } else {
                LockSupport.parkNanos(LOOK_INTERVAL_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
