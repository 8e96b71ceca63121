package io.github.virtualthread.execution;

import io.github.virtualthread.limit.StripedCount;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The tasks that have not ended: all are counted, as are callers that wait for a permit; those that have a thread are known.
 *
 * <p>A count of its own, since no sum over table and queues is exact while tasks move from one to the other.
 */
final class LiveTasks {

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(1);

    private final TaskTable<Task> running = new TaskTable<>();
    private final StripedCount begun = new StripedCount();
    private final StripedCount ended = new StripedCount();

    /** One more has come. */
    void begin() {
        begun.increment();
    }

    /** One more has come. */
    void begin(Task task) {
        task.counted = true;
        begin();
    }

    /** The task has ended, unless that was said before. Throws nothing. */
    void end(Task task) {
        if (task.counted) {
            task.counted = false;
            end();
        }
    }

    /** One has ended. Throws nothing. */
    void end() {
        ended.increment();
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

    /** As {@link #enter}, where that may have happened before. */
    void enterOnce(Task task) {
        if (task.place == 0) {
            enter(task);
        }
    }

    /** The thread of the task ends, or there is none. */
    void leave(Task task) {
        int place = task.place;
        if (place != 0) {
            task.place = 0;
            running.leave(place);
        }
    }

    /** Those that have a thread, at this moment. */
    List<Task> running() {
        return running.all();
    }

    /**
     * Waits until all have ended, or the time is over; returns whether they have. Asks every millisecond: tasks that end would
     * need a lock to tell, and a thread that waits for a lock may wait for a virtual one that gets no carrier.
     */
    boolean await(long nanos) throws InterruptedException {
        long begin = System.nanoTime();
        for (long left = nanos; left > 0 && !isEmpty(); left = nanos - (System.nanoTime() - begin)) {
            LockSupport.parkNanos(this, Math.min(left, MOMENT));
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while calls waited or ran");
            }
        }
        return isEmpty();
    }

    /** Waits as {@link #await}, for a stop: an interrupt ends the period. */
    void drain(Duration period) {
        try {
            boolean unused = await(TimeUnit.NANOSECONDS.convert(period));
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }
}
