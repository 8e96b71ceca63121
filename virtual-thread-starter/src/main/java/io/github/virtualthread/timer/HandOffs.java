package io.github.virtualthread.timer;

import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Actions that may block, in one queue. Each runs on a virtual thread of its own. While bodies keep all carriers busy, a few platform
 * threads take one after the other.
 *
 * <p>Who adds an action starts a virtual thread at most, and never waits. Platform threads are started by the timer, if an action has
 * waited for too long, and by each other: HotSpot waits until a platform thread runs, which may take many milliseconds on a busy
 * machine, and a carrier would wait with it.
 */
final class HandOffs {

    /** How long an action may wait for a carrier. */
    private static final long CARRIER_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** How long a platform thread waits for one more action. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How often a platform thread looks for late actions. So long they wait where no carrier comes. */
    private static final long LOOK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Maximum number of virtual threads that have not begun: more would need memory, and none of them comes earlier for it. */
    private static final int MOST_VIRTUAL_THREADS_COMING = 64;

    private static final int VIRTUAL = -1;

    // Made before they are needed, as builders are objects that nobody keeps: the JVM leaves those out of compiled
    // code, and where it
    // then finds no memory to go on as interpreted code, it takes the whole method off the stack, with its handlers.
    private final ThreadFactory virtualFactory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final ThreadFactory platformFactory = TaskTimer.daemon().factory();
    private final Runnable look = this::look;

    private final TaskTimer timer;
    private final ThreadStarts virtualThreads = new ThreadStarts();
    private final ThreadStarts platformThreads;
    private final LinkedTransferQueue<HandOff> actions = new LinkedTransferQueue<>(); // has no lock: see TaskTimer
    private final AtomicInteger coming = new AtomicInteger(); // virtual threads that have not begun
    private volatile long carrierAt = System.nanoTime(); // when one has begun last
    private final AtomicReferenceArray<@Nullable Thread>
            platform; // no count: where memory is short, the JVM may end a thread of ours
    private final AtomicReference<@Nullable Thread> growing =
            new AtomicReference<>(); // the one of them that starts another
    private final AtomicReference<@Nullable Future<?>> watch = new AtomicReference<>(); // entry of the timer

    /**
     * Creates hand-offs without a thread.
     *
     * @param most maximum number of platform threads
     */
    HandOffs(TaskTimer timer, ThreadStarts platformThreads, int most) {
        this.timer = timer;
        this.platformThreads = platformThreads;
        this.platform = new AtomicReferenceArray<>(most);
    }

    private record HandOff(Runnable action, long at) {}

    /** Adds an action. If this throws, the action does not run. */
    void start(Runnable action) {
        HandOff added = new HandOff(action, System.nanoTime());
        actions.add(added);
        try {
            callVirtualThread();
        } catch (Throwable shortage) {
            if (actions.remove(added)) {
                throw shortage;
            }
        }
        watchIfPossible();
    }

    private void callVirtualThread() {
        if (coming.get() >= MOST_VIRTUAL_THREADS_COMING) {
            return; // they begin after this, and look at the queue then
        }
        Taker taker = new Taker(VIRTUAL);
        coming.incrementAndGet();
        try {
            virtualThreads.start(taker.thread(virtualFactory));
        } catch (Throwable shortage) {
            if (taker.markBegun()) {
                throw shortage;
            } // otherwise the JDK has thrown what it ran into after the thread got its carrier
        }
    }

    private void watchIfPossible() {
        try {
            watch();
        } catch (OutOfMemoryError shortage) {
            // the virtual thread alone has to do
        }
    }

    private void watch() {
        Future<?> present = watch.get();
        if (present == null || present.isDone()) {
            Future<?> made = timer.schedule(look, patience());
            if (!watch.compareAndSet(present, made)) {
                made.cancel(false);
            }
        }
    }

    /** On the thread of the timer. If no thread can be had, that runs this again. */
    private void look() {
        if (isLate()) {
            startPlatformThread();
        }
        watch.set(null);
        if (!actions.isEmpty()) { // looked at afterwards: who adds one meanwhile saw this entry, or has made another
            watch();
        }
    }

    private boolean isLate() {
        HandOff first = actions.peek();
        return first != null && System.nanoTime() - first.at >= patience();
    }

    /** Less where no carrier has come for that long, as platform threads have seen. */
    private long patience() {
        if (platform.get(0) != null && System.nanoTime() - carrierAt >= CARRIER_WAIT_NANOS) {
            return LOOK_INTERVAL_NANOS;
        }
        return CARRIER_WAIT_NANOS;
    }

    private void startPlatformThread() {
        for (int slot = 0; slot < platform.length(); slot++) {
            Thread present = platform.get(slot);
            if (present == null || present.getState() == Thread.State.TERMINATED) {
                Taker taker = new Taker(slot);
                Thread made = taker.thread(platformFactory);
                if (platform.compareAndSet(slot, present, made)) {
                    try {
                        platformThreads.start(made);
                    } catch (Throwable shortage) {
                        platform.set(slot, null);
                        throw shortage;
                    }
                    return;
                }
            }
        }
    }

    /** One at a time, so that all others go on with the actions. */
    private void grow() {
        Thread other = growing.get();
        if ((other == null || !other.isAlive()) && growing.compareAndSet(other, Thread.currentThread())) {
            try {
                startPlatformThread();
            } catch (OutOfMemoryError shortage) {
                // those that are there do it alone
            } finally {
                growing.set(null);
            }
        }
    }

    /** Takes one action on a virtual thread, or one after the other on a platform thread. True once it has begun. */
    private final class Taker extends AtomicBoolean implements Runnable, Thread.UncaughtExceptionHandler {

        private final int slot; // of a platform thread, -1 for a virtual one
        private transient @Nullable HandOff taken;

        Taker(int slot) {
            this.slot = slot;
        }

        Thread thread(ThreadFactory threads) {
            Thread thread = threads.newThread(this);
            thread.setUncaughtExceptionHandler(this);
            return thread;
        }

        /** Before it looks at the queue: who adds an action afterwards does not count on it. Returns whether this was the first time. */
        boolean markBegun() {
            boolean first = compareAndSet(false, true);
            if (first && slot == VIRTUAL) {
                coming.decrementAndGet();
                carrierAt = System.nanoTime();
            }
            return first;
        }

        @Override
        public void run() {
            markBegun();
            runTaken(); // what an earlier run has left, where the JVM took that off the stack
            if (slot == VIRTUAL) {
                runOne();
            } else {
                runAll();
            }
        }

        /** Another thread takes the next action. If none can be had, this one does. */
        private void runOne() {
            boolean alone = true;
            while (alone) {
                taken = actions.poll();
                alone = taken != null && !actions.isEmpty() && !hasFollower();
                runTaken();
            }
        }

        private boolean hasFollower() {
            try {
                callVirtualThread();
                return true;
            } catch (OutOfMemoryError shortage) {
                return false;
            }
        }

        private void runAll() {
            do {
                for (taken = next(); taken != null; taken = next()) {
                    if (isLate()) { // the action after the taken one
                        grow();
                    }
                    runTaken();
                }
                platform.set(slot, null);
            } while (!actions.isEmpty() && platform.compareAndSet(slot, null, Thread.currentThread()));
        }

        /** Only what is late: carriers take the others, and this thread would take the processor from them. */
        private @Nullable HandOff next() {
            long idleSince = System.nanoTime();
            while (System.nanoTime() - idleSince < IDLE_NANOS) {
                HandOff next = isLate() ? actions.poll() : null;
                if (next != null) {
                    return next;
                }
                LockSupport.parkNanos(LOOK_INTERVAL_NANOS);
                Thread.interrupted(); // or it would not park again
            }
            return null;
        }

        private void runTaken() {
            while (taken != null) {
                try {
                    taken.action.run();
                } catch (OutOfMemoryError shortage) {
                    TaskTimer.pause();
                    continue;
                } catch (Throwable failure) {
                    TaskTimer.uncaught(failure);
                }
                taken = null;
                if (slot != VIRTUAL) {
                    Thread.interrupted(); // what one action leaves behind is not for the next
                    Thread.currentThread().setUncaughtExceptionHandler(this);
                }
            }
        }

        /**
         * Where a compiled method has no memory to go on as an interpreted one, the JVM leaves it with all its handlers, and comes
         * here.
         */
        @Override
        public void uncaughtException(Thread thread, Throwable failure) {
            if (failure instanceof OutOfMemoryError) {
                run();
            } else {
                TaskTimer.uncaught(failure);
            }
        }
    }
}
