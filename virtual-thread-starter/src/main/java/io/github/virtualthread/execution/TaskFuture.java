package io.github.virtualthread.execution;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.timer.TaskTimer;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the caller gets. Users may do with it anything that a {@link CompletableFuture} allows. The state of the task is
 * independent of it; the task only learns that nobody waits for its body any more.
 */
class TaskFuture extends CompletableFuture<@Nullable Object> {

    private @Nullable Task task;

    TaskFuture(Task task) {
        this.task = task;
    }

    /** The task has ended: a future that stays reachable keeps neither body nor arguments alive. */
    void detach() {
        task = null;
    }

    /** Gets a failure, because no caller holds this future; null if one does. */
    @Nullable
    FailureHandler handler() {
        return null;
    }

    /** Completes the future, however short memory is; returns whether it was incomplete. */
    boolean succeed(@Nullable Object value) {
        boolean open = !isDone();
        try {
            return super.complete(value);
        } catch (OutOfMemoryError shortage) {
            runDependents();
            return open;
        }
    }

    /** Completes the future as soon as there is room for that, which is a few bytes; returns whether it was incomplete. */
    boolean fail(Throwable failure) {
        boolean open = !isDone();
        while (true) {
            try {
                return super.completeExceptionally(failure);
            } catch (OutOfMemoryError shortage) {
                if (isDone()) {
                    runDependents();
                    return open;
                }
                TaskTimer.pause();
            }
        }
    }

    /** One continuation found no memory, so the remaining ones did not run. Each attempt runs more of them. */
    private void runDependents() {
        while (true) {
            try {
                boolean unused = super.complete(null); // the future is already complete: this only runs them
                return;
            } catch (OutOfMemoryError shortage) {
                TaskTimer.pause();
            }
        }
    }

    /** A cancellation that the body threw is not a cancellation of this future, which must not look cancelled then. */
    boolean fail(Throwable failure, boolean byBody) {
        return fail(byBody && failure instanceof CancellationException ? wrapped(failure) : failure);
    }

    /** Wraps a failure as the JDK's methods do. */
    private static CompletionException wrapped(Throwable failure) {
        return failure instanceof CompletionException wrapped ? wrapped : new CompletionException(failure);
    }

    /** What the body threw, given the failure that a continuation of its future sees. */
    static Throwable thrown(Throwable failure) {
        if (failure instanceof CompletionException
                && failure.getCause() instanceof CancellationException cancellation) {
            return cancellation;
        }
        return failure;
    }

    /**
     * A waiting task leaves its queue and never runs. A running task is interrupted if that is allowed, before the
     * continuations of this future run, because those may block.
     */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        Task cancelled = task;
        if (cancelled == null || !mayInterruptIfRunning || (isDone() && !isCancelled())) {
            return abandon(this::cancelled);
        }
        boolean delivered = cancelled.interrupt(Cause.CANCELLED);
        boolean done = abandon(this::cancelled);
        if (done && !delivered) {
            // the body may have begun after the first attempt, before it could see that this was cancelled
            boolean unused = cancelled.interrupt(Cause.CANCELLED);
        }
        return done;
    }

    /** As the inherited {@code cancel}, whose exception cannot get a suppressed one. */
    private boolean cancelled() {
        Task cancelled = task;
        if (cancelled == null || isDone()) {
            return super.cancel(false);
        }
        return super.completeExceptionally(cancelled.withCallerTrace(Cause.CANCELLED.failure(cancelled, null)))
                || isCancelled();
    }

    @Override
    public boolean complete(@Nullable Object value) {
        return abandon(() -> super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        Objects.requireNonNull(failure, "failure");
        return abandon(() -> super.completeExceptionally(failure));
    }

    /** As the inherited method, which would complete this future without the task noticing. */
    @Override
    public CompletableFuture<@Nullable Object> completeAsync(
            Supplier<? extends @Nullable Object> supplier, Executor executor) {
        Objects.requireNonNull(supplier, "supplier");
        executor.execute(() -> {
            if (!isDone()) {
                try {
                    complete(supplier.get());
                } catch (Throwable failure) {
                    completeExceptionally(wrapped(failure));
                }
            }
        });
        return this;
    }

    @Override
    public void obtrudeValue(@Nullable Object value) {
        abandon(() -> {
            super.obtrudeValue(value);
            return true;
        });
    }

    @Override
    public void obtrudeException(Throwable failure) {
        Objects.requireNonNull(failure, "failure");
        abandon(() -> {
            super.obtrudeException(failure);
            return true;
        });
    }

    /**
     * A waiting task leaves its queue before continuations of this future run, because those may block. A running task goes
     * on.
     */
    private boolean abandon(BooleanSupplier completion) {
        Task abandoned = task;
        boolean waited = abandoned != null && abandoned.leaveQueue();
        try {
            return completion.getAsBoolean();
        } catch (OutOfMemoryError shortage) {
            if (waited) {
                boolean unused = fail(shortage); // nobody else would
            }
            throw shortage;
        } finally {
            if (abandoned != null && waited) {
                abandoned.neverRun();
            }
        }
    }

    /** The future of a call without a result. A field for the handler here, and not in each task, costs the others nothing. */
    static final class Handled extends TaskFuture {

        private final FailureHandler handler;

        Handled(Task task, FailureHandler handler) {
            super(task);
            this.handler = handler;
        }

        @Override
        FailureHandler handler() {
            return handler;
        }
    }
}
