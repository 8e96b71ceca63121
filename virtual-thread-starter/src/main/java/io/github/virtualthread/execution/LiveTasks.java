package io.github.virtualthread.execution;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tasks that have not ended: all are counted, as are callers that wait for a permit; those that have a thread are known.
 *
 * <p>A count of its own, since no sum over table and queues is exact while tasks move from one to the other.
 */
final class LiveTasks {

    private final TaskTable running = new TaskTable();
    private final LongAdder begun = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final AtomicInteger watchers = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition();

    /** One more has come. */
    void begin() {
        begun.increment();
    }

    /** One has ended. Whoever watches afterwards sees the number, whoever watches already is told. */
    void end() {
        ended.increment();
        if (watchers.get() > 0 && isEmpty()) {
            lock.lock();
            try {
                none.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Exact: if as many have ended by now as will have begun by a later moment, there is none at this one. */
    boolean isEmpty() {
        long over = ended.sum();
        return begun.sum() == over;
    }

    /** The task gets a thread. */
    void enter(Task task) {
        task.place = running.enter(task);
    }

    /** The thread of the task ends. */
    void leave(Task task) {
        running.leave(task.place);
    }

    /** Those that have a thread, at this moment. */
    List<Task> running() {
        return running.all();
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
