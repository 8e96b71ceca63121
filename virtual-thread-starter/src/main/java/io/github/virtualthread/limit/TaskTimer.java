package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of an application. It has a thread only while something is scheduled, and a moment longer.
 *
 * <p>What it runs must be short: it hands over to virtual threads and never runs code of the application.
 *
 * <p>It has no lock, as the JDK's timers do: its thread would park behind a virtual one that gets no carrier while bodies keep all
 * of them busy, and it is the timer that has to interrupt those.
 */
public final class TaskTimer implements AutoCloseable {

    private static final Duration IDLE = Duration.ofSeconds(10);

    /** A time beyond all others that there are, but not so far that their difference overflows. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    final ConcurrentSkipListSet<Entry> entries = new ConcurrentSkipListSet<>();
    final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private final AtomicLong numbers = new AtomicLong();
    private final ThreadFactory threads;
    private final long idle;
    private volatile boolean closed;

    /**
     * A timer without a thread yet.
     *
     * @param threadName name of its thread
     */
    public TaskTimer(String threadName) {
        this(Thread.ofPlatform()
                .daemon()
                .name(threadName)
                .inheritInheritableThreadLocals(false)
                .factory());
    }

    TaskTimer(ThreadFactory threads) {
        this(threads, IDLE);
    }

    TaskTimer(ThreadFactory threads, Duration idle) {
        this.threads = threads;
        this.idle = idle.toNanos();
    }

    /**
     * Runs an action once, later. Does nothing after {@link #close}.
     *
     * @param action what to run on the thread of the timer: short, and no code of the application
     * @param nanos how long to wait, in nanoseconds; at once if not positive
     * @return forgets the action by {@code cancel}
     */
    public Future<?> schedule(Runnable action, long nanos) {
        Entry entry = new Entry(action, System.nanoTime() + Math.clamp(nanos, 0, NEVER));
        entries.add(entry);
        try {
            if (!closed) {
                wake(entry);
            }
        } catch (Throwable noThread) {
            entries.remove(entry);
            throw noThread;
        }
        if (closed) {
            entries.remove(entry);
        }
        return entry;
    }

    /** After the entry is there: either the thread sees it before it parks or ends, or it is seen here that it has done so. */
    private void wake(Entry entry) {
        Thread present = thread.get();
        if (present == null) {
            start(threads.newThread(this::run));
        } else if (entries.lower(entry) == null) {
            LockSupport.unpark(present);
        }
    }

    private void start(Thread made) {
        if (thread.compareAndSet(null, made)) {
            try {
                made.start();
            } catch (Throwable failure) {
                thread.set(null);
                throw failure;
            }
        }
    }

    private void run() {
        Thread current = Thread.currentThread();
        try {
            do {
                runUntilIdle();
                thread.set(null);
            } while (!closed && !entries.isEmpty() && thread.compareAndSet(null, current));
        } finally {
            thread.compareAndSet(current, null); // also where an error ends it: the next entry gets another thread
        }
    }

    private void runUntilIdle() {
        long idleAt = System.nanoTime() + idle;
        while (true) {
            Entry first = first();
            long now = System.nanoTime();
            if (closed || (first == null && idleAt - now <= 0)) {
                return;
            }
            long left = (first == null ? idleAt : first.at) - now;
            idleAt = first == null ? idleAt : now + idle;
            if (left > 0) {
                Thread.interrupted(); // or it would not park
                LockSupport.parkNanos(this, left);
            } else if (first != null && entries.remove(first)) {
                first.run();
            }
        }
    }

    private @Nullable Entry first() {
        for (Entry first : entries) {
            return first;
        }
        return null;
    }

    /** Forgets everything that is scheduled and ends the thread. Does not block. */
    @Override
    public void close() {
        closed = true;
        entries.clear();
        LockSupport.unpark(thread.get());
    }

    /** In the order of time, then in that of being scheduled. */
    final class Entry extends FutureTask<Void> implements Comparable<Entry> {

        final long at; // by System.nanoTime()
        private final long number = numbers.incrementAndGet();

        @SuppressWarnings("NullAway") // the value of an action is null
        private Entry(Runnable action, long at) {
            super(action, null);
            this.at = at;
        }

        @Override
        public int compareTo(Entry other) {
            long later = at - other.at;
            return later == 0 ? Long.compare(number, other.number) : Long.signum(later);
        }

        /** What is cancelled holds its place no longer. */
        @Override
        protected void done() {
            if (isCancelled()) {
                entries.remove(this);
            }
        }
    }
}
