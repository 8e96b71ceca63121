package io.github.virtualthread.execution;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that have not ended: all are counted, those that have a thread are known.
 *
 * <p>A count of its own, since no sum over map and queues is exact while tasks move from one to the other.
 */
final class LiveTasks {

    private final Map<Thread, Task> running = new ConcurrentHashMap<>();
    private final AtomicInteger number = new AtomicInteger();
    private final AtomicInteger watchers = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition();

    /** One more has come. */
    void begin() {
        number.incrementAndGet();
    }

    /** One has ended. Whoever watches afterwards sees the number, whoever watches already is told. */
    void end() {
        if (number.decrementAndGet() == 0 && watchers.get() > 0) {
            lock.lock();
            try {
                none.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    boolean isEmpty() {
        return number.get() == 0;
    }

    void enter(Thread thread, Task task) {
        running.put(thread, task);
    }

    void leave(Thread thread) {
        running.remove(thread);
    }

    /** The task of the current thread. */
    @Nullable
    Task current() {
        return running.get(Thread.currentThread());
    }

    /** Threads with their tasks, at this moment. */
    Map<Thread, Task> threads() {
        return Map.copyOf(running);
    }

    Collection<Task> running() {
        return List.copyOf(running.values());
    }

    /** Waits until all have ended, or the time is over; returns whether they have. */
    boolean await(long nanos) throws InterruptedException {
        lock.lock();
        watchers.incrementAndGet();
        try {
            for (long left = nanos; left > 0 && !isEmpty(); ) {
                left = none.awaitNanos(left);
            }
            return isEmpty();
        } finally {
            watchers.decrementAndGet();
            lock.unlock();
        }
    }
}
