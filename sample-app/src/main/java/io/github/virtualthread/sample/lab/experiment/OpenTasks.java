package io.github.virtualthread.sample.lab.experiment;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** Tasks that are not done yet. It lets go of those that are: five million of them would fill the heap. */
final class OpenTasks {

    private final CompletableFuture<?>[] tasks;
    private final CountDownLatch open;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    OpenTasks(int number) {
        tasks = new CompletableFuture<?>[number];
        open = new CountDownLatch(number);
    }

    /** Each number once; by one thread. */
    void add(int number, CompletableFuture<?> task) {
        tasks[number] = task;
        var unused = task.whenComplete((nothing, failed) -> {
            tasks[number] = null;
            if (failed != null) {
                failure.compareAndSet(null, failed);
            }
            open.countDown();
        });
    }

    int done() {
        return (int) (tasks.length - open.getCount());
    }

    /** Waits until all are done; throws what the first one that failed has thrown. */
    void await() throws InterruptedException, ExecutionException {
        open.await();
        if (failure.get() != null) {
            throw new ExecutionException(failure.get());
        }
    }

    /** Cancels those that are not done; by the thread that has added them. */
    void cancel() {
        Stream.of(tasks).filter(Objects::nonNull).forEach(task -> task.cancel(true));
    }
}
