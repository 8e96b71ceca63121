package io.github.virtualthread.execution;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The window in which a body may be interrupted. An interrupt that comes earlier or later is not delivered, one that was
 * delivered is not seen by anything after the window.
 */
@SuppressWarnings("serial")
final class Interruption extends AtomicInteger {

    private static final Logger logger = LoggerFactory.getLogger(Interruption.class);

    private static final int CLOSED = 0;
    private static final int OPEN = 1;
    private static final int DELIVERING = 2;
    private static final int DELIVERED = 3;

    /** Why a body is interrupted. */
    enum Cause {
        CANCELLED,
        TIMED_OUT,
        STOPPED;

        /** What the caller sees, whatever the body has made of the interrupt. */
        Throwable failure(TaskSpec spec, @Nullable Throwable thrown) {
            Throwable failure =
                    switch (this) {
                        case TIMED_OUT -> RunTimeout.exception(spec);
                        case STOPPED ->
                            new CancellationException(
                                    spec.name() + " was interrupted: the application stopped before it ended");
                        case CANCELLED -> new CancellationException(spec.name() + " was cancelled");
                    };
            if (thrown != null) {
                failure.addSuppressed(thrown);
            }
            return failure;
        }
    }

    private static final AtomicReferenceFieldUpdater<Interruption, @Nullable Cause> CAUSE =
            AtomicReferenceFieldUpdater.newUpdater(Interruption.class, Cause.class, "cause");

    private volatile @Nullable Thread thread;
    private volatile @Nullable Cause cause;

    /** Why the body was interrupted, null if it was not. The first reason counts. */
    @Nullable
    Cause cause() {
        return cause;
    }

    /** The outcome is decided, whether or not there is a body to interrupt. */
    void decide(Cause why) {
        CAUSE.compareAndSet(this, null, why);
    }

    /** Opens the window, on the thread of the body. */
    void open() {
        thread = Thread.currentThread();
        set(OPEN);
    }

    /**
     * Interrupts the body if it runs.
     *
     * @param why known before the interrupt is seen by anybody, and only if it is delivered
     * @return whether the window was open
     */
    boolean interrupt(Cause why) {
        Thread running = null;
        for (int seen = get(); running == null && (seen == OPEN || seen == DELIVERED); seen = get()) {
            if (compareAndSet(seen, DELIVERING)) {
                running = thread;
            }
        }
        if (running != null) {
            try {
                decide(why);
                running.interrupt();
            } catch (RuntimeException broken) {
                // a channel that the body is blocked on is closed by us, and may fail
                logger.warn("{} was interrupted, but not woken up", running.getName(), broken);
            } finally {
                set(DELIVERED);
            }
        }
        return running != null;
    }

    /** The thread of the body while the window is open. */
    @Nullable
    Thread running() {
        return get() == CLOSED ? null : thread;
    }

    /** Closes the window: waits for an interrupt on its way and clears the flag. */
    @SuppressWarnings("ThreadPriorityCheck") // the wait ends with a call of interrupt() that has begun already
    void close() {
        for (int seen = get(); seen == DELIVERING || !compareAndSet(seen, CLOSED); seen = get()) {
            Thread.yield();
        }
        thread = null;
        Thread.interrupted();
    }

    /**
     * Waits for the future that a body has returned; an interrupt is passed on to it as a cancel.
     *
     * @param value what the body returned
     * @return the same, or what the future holds
     */
    @Nullable
    Object await(@Nullable Object value) throws Throwable {
        if (value instanceof CompletionStage<?> stage) {
            return get(asFuture(stage), stage);
        }
        return value instanceof Future<?> future ? get(future, future) : value;
    }

    private @Nullable Object get(Future<?> awaited, Object returned) throws Throwable {
        // the flag may be one that the body left behind; whether we were interrupted, the state knows
        Thread.interrupted();
        boolean interrupted = get() != OPEN;
        while (true) {
            if (interrupted) {
                cancel(returned);
            }
            try {
                return awaited.get();
            } catch (InterruptedException cancelled) {
                interrupted = true;
            } catch (ExecutionException failed) {
                throw failed.getCause() == null ? failed : failed.getCause();
            }
        }
    }

    /** Cancels what the body returned, never our own view of it: the call ends when that one does. */
    private static void cancel(Object returned) {
        if (returned instanceof Future<?> future) {
            try {
                future.cancel(true);
            } catch (RuntimeException refused) {
                logger.debug("{} could not be cancelled; it is awaited further", future, refused);
            }
        }
    }

    /** A minimal stage is a {@link CompletableFuture} that cannot be waited for; other stages need not be futures at all. */
    private static Future<?> asFuture(CompletionStage<?> stage) {
        if (stage instanceof CompletableFuture<?> future) {
            return future.toCompletableFuture();
        }
        CompletableFuture<@Nullable Object> future = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }
}
