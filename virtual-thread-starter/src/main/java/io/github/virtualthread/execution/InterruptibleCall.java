package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A call with a window in which its body may be interrupted. An interrupt that comes earlier or later is not delivered. An
 * interrupt that was delivered is not seen by anything after the window.
 *
 * <p>This is a part of the call and not a separate object, because each waiting call costs memory.
 */
abstract class InterruptibleCall extends Call implements StoppableBody {

    private static final Logger logger = LoggerFactory.getLogger(InterruptibleCall.class);

    private static final byte CLOSED = 0;
    private static final byte OPEN = 1;
    private static final byte DELIVERING = 2;
    private static final byte DELIVERED = 3;
    private static final byte HELD = 4; // open, but what follows a part may have to be left alone, too
    private static final byte HELD_LATE = 5; // the stop came before
    private static final byte HELD_STOPPED = 6; // the interrupt is tried again and again
    private static final byte SHIELDED = 7;
    private static final byte SHIELDED_LATE = 8; // the stop came before
    private static final byte SHIELDED_STOPPED = 9; // the shield knows of the stop; the interrupt is owed to the thread

    private static final long PAUSE_NANOS = 1_000_000; // before an interrupt is tried again: 1 ms

    private static final VarHandle WINDOW = byteField(MethodHandles.lookup(), "window");
    private static final VarHandle CAUSE = byteField(MethodHandles.lookup(), "cause");

    /** Why a body is interrupted. */
    enum Cause {
        CANCELLED(Outcome.CANCELLED, "%s was cancelled under limit '%s'"),
        TIMED_OUT(Outcome.TIMEOUT, ""),
        STOPPED(Outcome.CANCELLED, "%s was interrupted: the application stopped before it ended"),
        OVERDUE(Outcome.TIMEOUT, ""),
        ABANDONED(Outcome.CANCELLED, "%s was cancelled under limit '%s': the client of its web request has gone");

        private static final Cause[] ALL = values();

        final Outcome outcome;
        private final String what;

        Cause(Outcome outcome, String what) {
            this.outcome = outcome;
            this.what = what;
        }

        private static @Nullable Cause of(byte code) {
            return code == 0 ? null : ALL[code - 1];
        }

        @SuppressWarnings("EnumOrdinal") // a field for the cause would make each call larger
        private byte code() {
            return (byte) (ordinal() + 1);
        }

        /** What the caller sees, no matter how the body reacted to the interrupt. */
        Throwable failure(InterruptibleCall call, @Nullable Throwable thrown) {
            Throwable failure = failure(call);
            if (thrown != null) {
                failure.addSuppressed(thrown);
            }
            return failure;
        }

        private Throwable failure(InterruptibleCall call) {
            if (outcome == Outcome.TIMEOUT) {
                return TimeBounds.exception(call, this);
            }
            return new CallCancelledException(
                    what.formatted(call.spec().name(), call.spec().limitName()));
        }
    }

    private volatile byte window;
    private volatile byte cause; // its code, 0 for none

    /**
     * The thread that runs the body, and the code before and after it; null again then, as a reference to the call must not keep it
     * alive. Written before window and start, read after them.
     */
    @Nullable
    Thread thread;

    InterruptibleCall(TaskSpec spec) {
        super(spec);
    }

    /** Why the body was interrupted, null if it was not. The first reason counts. */
    final @Nullable Cause cause() {
        return Cause.of(cause);
    }

    /** What the caller sees. After an interrupt it is the reason of that, no matter how the body reacted. */
    final @Nullable Throwable failureOf(@Nullable Cause interrupted, @Nullable Throwable failure) {
        try {
            return interrupted == null ? failure : interrupted.failure(this, failure);
        } catch (OutOfMemoryError shortage) {
            return shortage;
        }
    }

    /** Decides the outcome, with or without a body to interrupt; returns whether nothing else has decided it before. */
    final boolean decide(Cause why) {
        return CAUSE.compareAndSet(this, (byte) 0, why.code());
    }

    /** Opens the window, on the thread of the body. */
    final void openWindow() {
        window = OPEN;
    }

    /** What was captured of the caller, while the call is alive. */
    abstract CapturedContext context();

    /** The application stops: interrupts the body if it runs. The call fails, no matter what the body returns. */
    final void stop() {
        boolean unused = decide(Cause.STOPPED);
        unused = interrupt(Cause.STOPPED);
    }

    /**
     * Interrupts the body if it runs. Then the call fails, no matter how the body reacts.
     *
     * @param why becomes known before anybody sees the interrupt, and only if it is delivered
     * @return whether the window was open
     */
    final boolean interrupt(Cause why) {
        for (byte seen = window; seen != CLOSED && seen != DELIVERING; seen = window) {
            if (seen == HELD_STOPPED) {
                return true; // it comes
            }
            if (seen == SHIELDED_STOPPED) {
                boolean unused = insist();
                return true; // it is being ended already
            }
            boolean late = seen == SHIELDED_LATE; // there is nothing left to tell the shield
            if (WINDOW.compareAndSet(this, seen, late ? SHIELDED_STOPPED : DELIVERING)) {
                if (!late) {
                    deliver(seen, why);
                }
                return true;
            }
        }
        return false;
    }

    /** The body is stopped once more: what has time to end by itself, has it no longer. Returns whether there was such a part. */
    final boolean insist() {
        return settledWindow() == SHIELDED_STOPPED && Shields.stopAgain(this);
    }

    private void deliver(byte seen, Cause why) {
        byte next = seen == SHIELDED ? SHIELDED_STOPPED : DELIVERED;
        try {
            boolean first = decide(why);
            if (why.outcome == Outcome.TIMEOUT) {
                // before the interrupt, which closes the channel that the body is blocked on and may take long
                parts().bounds().report(this, why, first);
            }
            if (seen == SHIELDED && Shields.stop(this)) {
                return; // that ends the part
            }
            if (isHeld(seen)) {
                next = interruptUnlessHeld();
            } else {
                interruptThread();
            }
        } finally {
            window = next;
        }
    }

    /** While an interrupt is being delivered: the body does not go on without it. */
    private void interruptThread() {
        Thread running = Objects.requireNonNull(thread);
        try {
            running.interrupt();
        } catch (RuntimeException broken) {
            // the interrupt closes the channel that the body is blocked on, and that may fail
            SafeLog.write(
                    logger,
                    Level.WARN,
                    "Thread {} was interrupted, but it could not be woken up",
                    running.getName(),
                    null,
                    broken);
        }
    }

    @Override
    public final Entered shield(Shield part) {
        endHold();
        for (byte seen = settledWindow(); seen == OPEN || seen == DELIVERED; seen = settledWindow()) {
            Shields.add(this, part); // before it can be asked for
            if (WINDOW.compareAndSet(this, seen, seen == OPEN ? SHIELDED : SHIELDED_LATE)) {
                return seen == OPEN ? Entered.RUNNING : Entered.STOPPED;
            }
        }
        return Entered.NOT;
    }

    @Override
    public final void unshield(boolean owed) {
        for (byte seen = settledWindow(); seen >= SHIELDED; seen = settledWindow()) {
            boolean due = owed || seen == SHIELDED_STOPPED;
            byte next = seen == SHIELDED ? HELD : HELD_LATE;
            if (WINDOW.compareAndSet(this, seen, due ? DELIVERING : next)) {
                if (due) {
                    next = DELIVERED;
                    try {
                        next = interruptUnlessHeld();
                    } finally {
                        window = next;
                    }
                }
            }
        }
    }

    /** While an interrupt is being delivered, so no other part begins. Returns the window that follows. */
    private byte interruptUnlessHeld() {
        if (isLeftAlone()) {
            try {
                TaskTimer.daemon().name("deliver-interrupt").start(this::interruptLater);
                return HELD_STOPPED;
            } catch (OutOfMemoryError shortage) {
                // an interrupt at the wrong place is better than none
            }
        }
        endPart();
        return DELIVERED;
    }

    private void endPart() {
        Shields.forget(this); // nothing of it goes on
        interruptThread();
    }

    private boolean isLeftAlone() {
        try {
            return Shields.leaveAlone(this, Objects.requireNonNull(thread).getStackTrace());
        } catch (OutOfMemoryError shortage) {
            return false;
        }
    }

    /** Not by the timer, which ends with the application: a body may outlive that. */
    private void interruptLater() {
        do {
            LockSupport.parkNanos(PAUSE_NANOS);
        } while (!tryInterrupt());
    }

    private boolean tryInterrupt() {
        if (!WINDOW.compareAndSet(this, HELD_STOPPED, DELIVERING)) {
            return true; // it is elsewhere, and has its interrupt
        }
        byte next = HELD_STOPPED;
        try {
            if (!isLeftAlone()) {
                next = DELIVERED;
                endPart();
            }
        } finally {
            window = next;
        }
        return next == DELIVERED;
    }

    @Override
    public final boolean force() {
        for (byte seen = settledWindow(); seen > SHIELDED; seen = settledWindow()) {
            if (WINDOW.compareAndSet(this, seen, DELIVERING)) {
                try {
                    interruptThread();
                } finally {
                    window = seen;
                }
                return true;
            }
        }
        return false;
    }

    private static boolean isHeld(byte seen) {
        return seen == HELD || seen == HELD_LATE || seen == HELD_STOPPED;
    }

    /** On the thread of the body, which is elsewhere now. An interrupt that was held back is delivered. */
    private void endHold() {
        for (byte seen = settledWindow(); isHeld(seen); seen = settledWindow()) {
            if (WINDOW.compareAndSet(this, seen, seen == HELD ? OPEN : DELIVERED)) {
                Shields.forget(this);
                if (seen == HELD_STOPPED) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Whether the body has been stopped and does not get the interrupt yet. */
    final boolean isShielded() {
        byte seen = window;
        return seen > SHIELDED || seen == HELD_STOPPED;
    }

    @Override
    public final String whyStopped() {
        Cause why = cause();
        if (why == null) {
            return spec().name() + " was stopped";
        }
        return String.valueOf(why.failure(this, null).getMessage());
    }

    @Override
    public final Future<?> schedule(Duration delay, Runnable action) {
        TaskTimer timer = parts().timer();
        return timer.schedule(() -> timer.handOff(action), TimeUnit.NANOSECONDS.convert(delay));
    }

    /** The parts that are shielded at this moment. Beside the calls, because one that waits should not have a field for it. */
    static final class Shields {

        /** Each until the next part begins, as what follows a part may have to be left alone, too. */
        private static final Map<InterruptibleCall, Shield> PARTS = new ConcurrentHashMap<>();

        private Shields() {}

        private static void add(InterruptibleCall call, Shield part) {
            try {
                PARTS.put(call, part);
            } catch (Throwable shortage) {
                forget(call); // the map may have added it all the same
                throw shortage;
            }
        }

        /** Throws nothing: whoever is shielded owes its thread an interrupt, and pays that afterwards. */
        private static void forget(InterruptibleCall call) {
            try {
                PARTS.remove(call);
            } catch (OutOfMemoryError shortage) {
                // to count what is left; it has been removed
            }
        }

        /** What the body of a call is shielded in, null if it is not. */
        static @Nullable Shield of(InterruptibleCall call) {
            return isHeld(call.window) ? null : PARTS.get(call);
        }

        /** Whether the thread is where its last part has it left alone. */
        private static boolean leaveAlone(InterruptibleCall call, StackTraceElement[] stack) {
            Shield part = PARTS.get(call);
            return part != null && part.goesOn(stack);
        }

        /** Returns whether the shield will end its part. */
        private static boolean stop(InterruptibleCall call) {
            try {
                Objects.requireNonNull(PARTS.get(call)).stopped(call);
                return true;
            } catch (Throwable shortage) {
                return false;
            }
        }

        private static boolean stopAgain(InterruptibleCall call) {
            Shield part = PARTS.get(call);
            try {
                return part != null && part.stoppedAgain(call);
            } catch (Throwable shortage) {
                return false; // it ends as it would have ended
            }
        }
    }

    /** Completes the future of a body that was interrupted, without waiting for its end. */
    abstract void settleEarly();

    /** The thread of the body while the window is open, otherwise null. */
    final @Nullable Thread runningThread() {
        return window == CLOSED ? null : thread;
    }

    /** Closes the window: waits for an interrupt that is being delivered, and clears the flag. */
    final void closeWindow() {
        endHold();
        byte seen = settledWindow();
        while (!WINDOW.compareAndSet(this, seen, CLOSED)) {
            seen = settledWindow();
        }
        if (seen >= SHIELDED) {
            Shields.forget(this); // whoever shielded it found no memory to end that
        }
        Thread.interrupted();
    }

    /** The window when no interrupt is on its way: whoever delivers one, or tells the shield of a stop, is not quite done. */
    @SuppressWarnings("ThreadPriorityCheck") // the wait ends with a call of interrupt() that has begun already
    private byte settledWindow() {
        byte seen = window;
        while (seen == DELIVERING) {
            try {
                Thread.yield();
            } catch (OutOfMemoryError shortage) { // a virtual thread leaves its carrier by copying its stack
                Thread.onSpinWait();
            }
            seen = window;
        }
        return seen;
    }

    /**
     * Waits for the future that a body returned. An interrupt is passed on to it as a cancel.
     *
     * @param value what the body returned
     * @return the same, or the value of the future
     */
    final @Nullable Object await(@Nullable Object value) throws Throwable {
        if (value == null || !ReturnedFuture.isFuture(value)) {
            return value;
        }
        endHold(); // the body has returned
        // the body may have left the flag behind; the window knows whether we were interrupted
        Thread.interrupted();
        return ReturnedFuture.get(value, window != OPEN);
    }
}
