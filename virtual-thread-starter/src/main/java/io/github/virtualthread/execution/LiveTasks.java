package io.github.virtualthread.execution;

import io.github.virtualthread.limit.StripedCount;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;

/**
 * The tasks that have not ended. All of them are counted, and so are callers that wait for a permit. Those that have a thread
 * can be listed.
 *
 * <p>The count is separate, because a sum over table and queues is not exact while tasks move from one to the other.
 */
final class LiveTasks {

    /** The bit of a task's slot that says whether the task is counted; the others are its slot in the table. */
    private static final int COUNTED = Integer.MIN_VALUE;

    private static final AtomicIntegerFieldUpdater<Task> SLOT =
            AtomicIntegerFieldUpdater.newUpdater(Task.class, "slot");

    private static final long LOOK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TaskTable<Task> running = new TaskTable<>();
    private final StripedCount begun = new StripedCount();
    private final StripedCount ended = new StripedCount();

    /** One more task has begun. */
    void begin() {
        begun.increment();
    }

    /** One more task has begun. */
    void begin(Task task) {
        SLOT.lazySet(task, task.slot | COUNTED);
        begin();
    }

    static boolean isCounted(Task task) {
        return (task.slot & COUNTED) != 0;
    }

    /** The task has ended, unless it had ended before. Throws nothing. */
    void end(Task task) {
        if (clear(task, COUNTED) != 0) {
            end();
        }
    }

    /** One task has ended. Throws nothing. */
    void end() {
        ended.increment();
    }

    /** Exact: if as many tasks have ended by now as have begun by a later moment, none is left now. */
    boolean isEmpty() {
        long over = ended.sum();
        return begun.sum() == over;
    }

    /** About how many have not ended. */
    long left() {
        return begun.sum() - ended.sum();
    }

    /** The task gets a thread. */
    void enter(Task task, Thread thread) {
        SLOT.lazySet(task, running.enter(task, thread.threadId()) | (task.slot & COUNTED));
    }

    /** As {@link #enter}, for a task that gets no permit: it may have entered before, and enter on another thread, too. */
    void enterOnce(Task task) {
        if ((task.slot & ~COUNTED) != 0) {
            return;
        }
        int entered = running.enter(task, ThreadLocalRandom.current().nextInt()); // no thread of its own yet
        int before;
        do {
            before = task.slot;
        } while ((before & ~COUNTED) == 0 && !SLOT.compareAndSet(task, before, entered | before));
        if ((before & ~COUNTED) != 0) {
            running.leave(entered);
        }
    }

    /** The thread of the task ends, or could not be started. */
    void leave(Task task) {
        int slot = clear(task, ~COUNTED);
        if (slot != 0) {
            running.leave(slot);
        }
    }

    /** Clears bits of a task's slot; returns those that were set. Two threads may report at once that a task gets no permit. */
    private static int clear(Task task, int bits) {
        int before = task.slot;
        if (!task.isRefused()) {
            SLOT.lazySet(task, before & ~bits);
        } else {
            while (!SLOT.compareAndSet(task, before, before & ~bits)) {
                before = task.slot;
            }
        }
        return before & bits;
    }

    /** The tasks that have a thread at this moment. */
    List<Task> running() {
        return running.all();
    }

    /**
     * Waits until all have ended or the time is over; returns whether all have ended. Checks every millisecond: to be woken
     * by a task would need a lock, and a thread that waits for a lock may wait for a virtual thread that gets no carrier.
     */
    boolean await(long nanos) throws InterruptedException {
        long begin = System.nanoTime();
        for (long left = nanos; left > 0 && !isEmpty(); left = nanos - (System.nanoTime() - begin)) {
            LockSupport.parkNanos(this, Math.min(left, LOOK_INTERVAL_NANOS));
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while calls waited or ran");
            }
        }
        return isEmpty();
    }

    /** Waits as {@link #await} does, for a stop: an interrupt ends the period. */
    void drain(Duration period) {
        try {
            boolean unused = await(TimeUnit.NANOSECONDS.convert(period));
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }
}
