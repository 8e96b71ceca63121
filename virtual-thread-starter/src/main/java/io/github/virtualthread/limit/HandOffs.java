package io.github.virtualthread.limit;

import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Actions on threads of their own: virtual ones, and platform threads while bodies keep all carriers busy.
 *
 * <p>Many in a row go by turns, so that letting go a million calls takes neither the memory nor the threads for all of them at
 * once.
 */
final class HandOffs {

    /** How long a virtual thread may take to get a carrier. */
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(50);

    static final int TURNS = 64;

    // Made before they are needed, as builders are objects that nobody keeps: the JVM leaves those out of compiled
    // code, and where it
    // then finds no memory to go on as interpreted code, it takes the whole method off the stack, with its handlers.
    private final ThreadFactory virtualFactory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final ThreadFactory platformFactory =
            Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).factory();

    private final TaskTimer timer;
    private final Semaphore turns = new Semaphore(TURNS);
    private volatile boolean noCarrier; // until a virtual thread that came too late gets one
    private final ThreadStarts platformThreads;
    private final ThreadStarts virtualThreads = new ThreadStarts();

    HandOffs(TaskTimer timer, ThreadStarts platformThreads) {
        this.timer = timer;
        this.platformThreads = platformThreads;
    }

    void start(Runnable action, boolean inTurn) {
        boolean turn = inTurn && takeTurn();
        try {
            new HandOff(action, turn).start();
        } catch (Throwable noThread) {
            if (turn) {
                turns.release();
            }
            throw noThread;
        }
    }

    /** Whoever waits here lets others go: an interrupt does not end that, and what blocks all the turns does not do so for long. */
    private boolean takeTurn() {
        boolean interrupted = Thread.interrupted();
        try {
            return !platformThreads.haveFailed() && turns.tryAcquire(100, TimeUnit.MILLISECONDS);
        } catch (InterruptedException now) {
            interrupted = true;
            return false;
        } catch (OutOfMemoryError noRoom) { // to park takes memory
            return false;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns whether one could be had. */
    boolean startPlatformThread(Runnable action) {
        try {
            new HandOff(action, false).startPlatformThread();
            return true;
        } catch (OutOfMemoryError none) {
            return false;
        }
    }

    /** Runs on the first thread that gets to it. A turn lasts until that is so, or on a platform thread until the action ends. */
    private final class HandOff extends AtomicBoolean implements Runnable, Thread.UncaughtExceptionHandler {

        private static final long serialVersionUID = 1L;

        private final transient Runnable action;
        private final boolean turn;
        private transient @Nullable Future<?> late;

        HandOff(Runnable action, boolean turn) {
            this.action = action;
            this.turn = turn;
        }

        /**
         * A virtual thread does not start a platform thread itself if the timer can do so: HotSpot waits until that runs, which
         * may take many milliseconds on a busy machine, and the carrier waits with it.
         */
        void start() {
            boolean carriers = !noCarrier;
            if (carriers || Thread.currentThread().isVirtual()) {
                late = schedule();
            }
            if (!carriers && late == null) {
                startPlatformThread();
                return;
            }
            try {
                virtualThreads.start(owned(virtualFactory));
            } catch (Throwable noThread) {
                boolean first = begin();
                noCarrier = false; // this thread may never take that back
                if (first) {
                    throw noThread;
                } // the JDK may throw what it has run into after the thread got its carrier
            }
        }

        /** Whether nobody has begun before, nor does so any more. */
        private boolean begin() {
            boolean first = compareAndSet(false, true);
            Future<?> scheduled = late;
            if (first && scheduled != null) {
                scheduled.cancel(false);
            }
            return first;
        }

        /** Null where the timer has no room, or gets no thread: the virtual thread alone has to do then. */
        private @Nullable Future<?> schedule() {
            try {
                return timer.schedule(this::takeFromVirtualThread, PATIENCE);
            } catch (OutOfMemoryError noRoom) {
                return null;
            }
        }

        private void takeFromVirtualThread() {
            noCarrier = true; // first: the virtual thread takes that back after it has begun
            if (get()) {
                noCarrier = false;
            } else {
                startPlatformThread();
            }
        }

        private void startPlatformThread() {
            platformThreads.start(owned(platformFactory));
        }

        @Override
        public void run() {
            boolean virtual = Thread.currentThread().isVirtual();
            boolean first = begin();
            if (virtual && noCarrier) {
                noCarrier = false;
            }
            if (!first) {
                return;
            }
            if (virtual) {
                endTurn();
            }
            try {
                runPatiently();
            } finally {
                if (!virtual) {
                    endTurn();
                }
            }
        }

        private void runPatiently() {
            while (true) {
                try {
                    action.run();
                    return;
                } catch (OutOfMemoryError noRoom) {
                    TaskTimer.pause();
                }
            }
        }

        private Thread owned(ThreadFactory threads) {
            Thread thread = threads.newThread(this);
            thread.setUncaughtExceptionHandler(this);
            return thread;
        }

        /**
         * Where a compiled method has no memory to go on as an interpreted one, the JVM leaves it with all its handlers, and comes
         * here.
         */
        @Override
        public void uncaughtException(Thread thread, Throwable failure) {
            if (failure instanceof OutOfMemoryError) {
                runPatiently();
            } else {
                TaskTimer.tell(failure);
            }
        }

        private void endTurn() {
            if (turn) {
                turns.release();
            }
        }
    }
}
