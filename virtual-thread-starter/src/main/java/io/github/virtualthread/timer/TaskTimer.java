package io.github.virtualthread.timer;

import io.github.virtualthread.Internal;
import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of an application. It has a thread from the first entry on.
 *
 * <p>What it runs must be short: whatever may block is for {@link #handOff}. An action that finds no memory, or no thread to hand
 * over to, is run again a moment later.
 *
 * <p>It has no lock, as the JDK's timers do: its thread would park behind a virtual one that gets no carrier while bodies keep all
 * of them busy, and it is the timer that has to interrupt those.
 */
@Internal
public final class TaskTimer implements AutoCloseable {

    /** A time beyond all others that there are, but not so far that their difference overflows. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    /** How long what has found no memory, or no thread, waits before it tries again: 10 ms. A constant of the compiler. */
    static final long PAUSE_NANOS = 10_000_000;

    /** How long it sleeps at most. What schedules an action may be lost before it wakes the timer, and all later ones are behind it. */
    private static final long LONGEST_SLEEP_NANOS = 1_000_000_000;

    /** Maximum number of platform threads that run code of the application: with the one of a stop these are 63. */
    private static final int MOST_THREADS_FOR_APPLICATION_CODE = 62;

    /** Maximum number of those that run ours, which seldom blocks. */
    private static final int MOST_THREADS_FOR_OUR_CODE = 32;

    final ConcurrentSkipListSet<Entry> entries = new ConcurrentSkipListSet<>();
    final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private final AtomicLong numbers = new AtomicLong();
    private final Entry beginning = new Entry(() -> {}, System.nanoTime()); // before all others, and never one of them
    private final ThreadStarts platformThreads = new ThreadStarts();
    private final HandOffs handOffs = new HandOffs(this, platformThreads, MOST_THREADS_FOR_OUR_CODE);
    private final HandOffs reports = new HandOffs(this, platformThreads, MOST_THREADS_FOR_APPLICATION_CODE);
    private final UncaughtExceptionHandler goesOn = this::goOn; // made before it is needed
    private final ThreadFactory threads;
    private volatile boolean closed;

    /**
     * Creates a timer; its thread starts with the first entry.
     *
     * @param threadName name of its thread
     */
    public TaskTimer(String threadName) {
        this(daemon().name(threadName).factory());
    }

    TaskTimer(ThreadFactory threads) {
        this.threads = threads;
    }

    /**
     * Returns a builder of platform threads that inherit nothing, and do not keep the JVM alive.
     *
     * @return a new builder
     */
    public static Thread.Builder.OfPlatform daemon() {
        return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false);
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
        try {
            entries.add(entry);
            if (!closed) {
                wake(entry);
            }
        } catch (Throwable shortage) {
            entry.cancel(false);
            // the entry may have been added all the same, and others count on being behind it
            LockSupport.unpark(thread.get());
            throw shortage;
        }
        if (closed) {
            entries.remove(entry);
        }
        return entry;
    }

    /** After the entry is there: either the thread sees it before it parks, or it is seen here that it has to be woken. */
    private void wake(Entry entry) {
        Thread present = thread.get();
        if (present == null || !present.isAlive()) {
            Thread made = threads.newThread(this::run);
            made.setUncaughtExceptionHandler(goesOn);
            platformThreads.start(made); // of several at once, one stays
            thread.compareAndSet(present, made);
        } else if (entries.lower(entry) == null) {
            LockSupport.unpark(present);
        }
    }

    /**
     * Where a compiled method has no memory to go on as an interpreted one, the JVM leaves it with all its handlers: then the thread
     * comes to that of uncaught exceptions, and goes on from there.
     */
    private void run() {
        Thread current = Thread.currentThread();
        Thread present = thread.get();
        if (present == null || !present.isAlive()) {
            thread.compareAndSet(present, current);
        }
        if (current.equals(thread.get())) {
            runUntilClosed();
        }
    }

    private void runUntilClosed() {
        while (!closed) {
            long left = PAUSE_NANOS;
            try {
                left = runDue();
            } catch (OutOfMemoryError shortage) {
                // again, in a moment
            }
            if (left > 0) {
                Thread.interrupted(); // or it would not park
                LockSupport.parkNanos(this, Math.min(left, LONGEST_SLEEP_NANOS));
            }
        }
        thread.set(null);
    }

    /**
     * Reports a failure of ours as one of any other thread.
     *
     * @param failure what was thrown
     */
    public static void uncaught(Throwable failure) {
        Thread current = Thread.currentThread();
        current.getThreadGroup().uncaughtException(current, failure);
    }

    private void goOn(Thread dying, Throwable shortage) {
        run();
    }

    /** Runs what is due; returns in how many nanoseconds there is more to do. */
    private long runDue() {
        long most = NEVER;
        for (Entry entry = entries.higher(beginning); entry != null && !closed; entry = entries.higher(entry)) {
            long left = entry.at - System.nanoTime();
            if (left > 0) {
                return Math.min(left, most);
            }
            entry.run();
            if (entry.isDone()) {
                entries.remove(entry);
            } else {
                most = PAUSE_NANOS;
            }
        }
        return most;
    }

    /**
     * Lets a moment pass, before what has found no memory is tried again. Throws nothing, and needs no memory. A virtual thread
     * keeps its carrier meanwhile: to leave it takes memory too, and below JDK 24 a thread that finds none is lost.
     */
    public static void pause() {
        if (Thread.currentThread().isVirtual()) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /**
     * Runs an action soon, on a thread that may block: a virtual one, and where no carrier takes that within 50 ms, one of a few
     * platform threads. Does not block.
     *
     * @param action what to run, once: no code of the application, which may block for as long as it likes
     * @throws OutOfMemoryError if no thread can be had; the action is not run then
     */
    public void handOff(Runnable action) {
        handOffs.start(action);
    }

    /**
     * As {@link #handOff}, for what runs code of the application, such as continuations. That never holds up other actions.
     *
     * @param action what to run, once
     * @throws OutOfMemoryError if no thread can be had; the action is not run then
     */
    public void handOffReport(Runnable action) {
        reports.start(action);
    }

    /** Forgets everything that is scheduled and ends the thread. Does not block. */
    @Override
    public void close() {
        closed = true;
        entries.clear();
        LockSupport.unpark(thread.get());
    }

    /**
     * In the order of time, then in that of being scheduled. Not a {@code FutureTask}, which notes who runs it: where the JVM takes
     * that run off the stack for want of memory, it could never be run again.
     */
    final class Entry extends CompletableFuture<@Nullable Void> implements Comparable<Entry> {

        final long at; // by System.nanoTime()
        private final long number = numbers.incrementAndGet();
        private final Runnable action;

        private Entry(Runnable action, long at) {
            this.action = action;
            this.at = at;
        }

        @Override
        public int compareTo(Entry other) {
            long later = at - other.at;
            return later == 0 ? Long.compare(number, other.number) : Long.signum(later);
        }

        /** Where memory or threads are short, it is not done. */
        private void run() {
            if (isDone()) {
                return;
            }
            try {
                action.run();
            } catch (OutOfMemoryError shortage) {
                return;
            } catch (Throwable failure) {
                completeExceptionally(failure);
                uncaught(failure); // nobody else asks how it went
            }
            complete(null);
        }

        /** What is cancelled holds its place no longer. */
        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean cancelled = complete(null);
            if (cancelled) {
                try {
                    entries.remove(this);
                } catch (Throwable shortage) {
                    // it goes when it is due
                }
            }
            return cancelled;
        }
    }
}
