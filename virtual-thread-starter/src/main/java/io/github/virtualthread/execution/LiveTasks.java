package io.github.virtualthread.execution;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** The tasks that have a thread. */
final class LiveTasks {

    private final Map<Thread, Task> tasks = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition removed = lock.newCondition();
    private volatile boolean watched;

    void add(Thread thread, Task task) {
        tasks.put(thread, task);
    }

    void remove(Thread thread) {
        tasks.remove(thread);
        if (watched) {
            lock.lock();
            try {
                removed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** Whether the current thread is that of a task. */
    boolean containsCurrent() {
        return tasks.containsKey(Thread.currentThread());
    }

    Collection<Task> all() {
        return List.copyOf(tasks.values());
    }

    /** Waits until {@code idle} says so, asked again whenever a task has ended, or the time is over. */
    void await(BooleanSupplier idle, long nanos) throws InterruptedException {
        lock.lock();
        try {
            watched = true;
            for (long left = nanos; left > 0 && !idle.getAsBoolean(); ) {
                left = removed.awaitNanos(left);
            }
        } finally {
            watched = false;
            lock.unlock();
        }
    }
}
