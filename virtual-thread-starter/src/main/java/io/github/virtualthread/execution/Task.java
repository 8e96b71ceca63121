package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.CapturedContext.Scope;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.DrainCounts.Ending;
import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.TaskDecorators.DecoratedBody;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * One call on a virtual thread of its own, from its submission to its end.
 *
 * <p>Its state is independent of its future. What users do with the future decides what the caller sees, but never whether the
 * permit is given back.
 */
class Task extends InterruptibleCall implements Runnable, Thread.UncaughtExceptionHandler {

    private final TaskFuture future;

    /** What is to run, or the throwable that says why that never runs. One field, because each waiting call costs memory. */
    private @Nullable Object bodyOrRefusal;

    private CapturedContext context;

    /** For {@link LiveTasks}: its slot among the tasks that have a thread, and whether it is counted. */
    volatile int slot;

    /**
     * Creates a task that has not been submitted. Must be called on the caller's thread.
     *
     * @param handler gets a failure if no caller holds the future; null if a caller does
     */
    Task(TaskSpec spec, TaskBody body, @Nullable FailureHandler handler) {
        super(spec);
        this.future = handler == null ? new TaskFuture(this) : new TaskFuture.Handled(this, handler);
        this.context = DeadlineContext.capture(
                parts().propagation(), spec.deadline(), handler == null); // nobody waits for those with a handler
        this.bodyOrRefusal = parts().decorators().decorate(spec.name(), body);
        if (handler != null) {
            unawaited();
        }
    }

    /** The task of the current thread. A map would be shared by all threads, a thread-local is larger than the task. */
    static @Nullable Task current() {
        return Thread.currentThread().getUncaughtExceptionHandler() instanceof Task task ? task : null;
    }

    final CompletableFuture<@Nullable Object> future() {
        return future;
    }

    /** Why the task was refused, if its future is already complete. */
    final @Nullable Throwable refusal() {
        return future.isDone() ? whyRefused() : null;
    }

    /** Whether it is known that the body never runs. */
    final boolean isRefused() {
        return bodyOrRefusal instanceof Throwable;
    }

    private @Nullable Throwable whyRefused() {
        return bodyOrRefusal instanceof Throwable refusal ? refusal : null;
    }

    /** Asks for a permit. A refusal completes the future like any other outcome. */
    void submit() {
        try {
            Reason refused;
            if (TimeBounds.deadline(this) == null) {
                refused = askForPermit(Long.MAX_VALUE);
            } else {
                refused = parts().bounds().ask(this);
            }
            if (refused != null) {
                rejectUnqueued(refused);
            }
        } catch (Throwable shortage) {
            rejectUnqueued(shortage);
        }
    }

    /** Asks for the permit as {@link #ask} does; returns why it was refused, null if it was not. */
    @Nullable
    Reason askForPermit(long longest) {
        return ask(longest);
    }

    /** Whether the task may wait for half of what is left before its deadline only. */
    boolean waitIsHalved() {
        return rejectsHopeless();
    }

    /**
     * The body that makes this call holds a permit which this call needs, on another thread, and may wait for it. A body that cannot
     * wait goes on, and gives its permit back.
     */
    @Override
    protected boolean isNested() {
        return !isUnawaited() && parts().holders().currentHoldsAnyFor(spec().limit());
    }

    @Override
    protected final void waitsNested() {
        parts().holders().warn(spec(), isOfExecutor());
    }

    /**
     * Ends a task that neither waits nor runs. The caller's thread completes the future, but never runs a handler. The task is no
     * longer counted by then: if memory is short, the JVM may remove what follows from the stack of a caller without running its
     * handlers.
     */
    void rejectUnqueued(Throwable reason) {
        bodyOrRefusal = reason;
        if (future.handler() == null) {
            parts().live().end(this);
            try {
                settleRejected();
            } finally {
                letGo();
            }
        } else {
            reportSoon();
        }
    }

    void rejectUnqueued(Reason reason) {
        onRejected(reason);
        rejectUnqueued(refusal(reason));
    }

    /** Returns a rejection, or the shortage itself if memory is short. */
    private Throwable refusal(Reason reason) {
        try {
            return rejection(reason, TimeBounds.deadline(this));
        } catch (Throwable shortage) {
            return shortage;
        }
    }

    @Override
    protected void granted() {
        Thread thread = threads().newThread(this);
        parts().live().enter(this, thread);
        thread.start();
    }

    @Override
    protected void onStartFailed(Throwable failure) {
        bodyOrRefusal = null; // first: that is how the table knows
        parts().live().leave(this);
        bodyOrRefusal = failure;
    }

    @Override
    protected void onRejected(Reason reason) {
        bodyOrRefusal = null; // with its arguments it may be what fills the heap
    }

    @Override
    protected void reportRejected(@Nullable Reason reason) {
        if (reason != null) {
            bodyOrRefusal = refusal(reason);
        }
        try {
            parts().live().enterOnce(this);
        } catch (Throwable shortage) {
            settleRejected(shortage);
            return;
        }
        runHere();
    }

    /**
     * Continuations and handlers of a failure may block. So they get a thread of their own, which is neither the timer's nor the
     * caller's nor that of another task. If no thread can be started, the current one runs them.
     */
    @Override
    protected void reportSoon() {
        try {
            parts().live().enterOnce(this);
            parts().timer().handOffReport(this::runHere);
        } catch (Throwable shortage) {
            settleRejected(shortage);
        }
    }

    private void settleRejected(Throwable shortage) {
        try {
            Failures.suppress(Objects.requireNonNull(whyRefused()), shortage);
            settleRejected();
        } catch (Throwable another) {
            boolean unused = future.fail(another);
        } finally {
            leaveThread();
        }
    }

    private void settleRejected() {
        Throwable reason = Objects.requireNonNull(whyRefused());
        rejected(reason);
        settle(null, null, reason);
    }

    /**
     * If the JVM has no memory to continue a compiled method in the interpreter, it leaves the method without running its
     * handlers, and the task may not have ended. Libraries also pass exceptions to this method that they caught: then the
     * task still runs.
     */
    @Override
    public void uncaughtException(Thread thread, Throwable failure) {
        if (failure instanceof OutOfMemoryError
                && (LiveTasks.isCounted(this) || !future.isDone())
                && !TaskThreads.isInside(Task.class, "runHere")) {
            closeWindow();
            try {
                giveBack();
                boolean unused = future.fail(failure);
            } finally {
                leaveThread();
            }
        } else {
            Failures.uncaught(spec(), thread, failure);
        }
    }

    private void leaveThread() {
        parts().live().leave(this);
        thread = null;
        release();
    }

    @Override
    public void run() {
        if (takeUp()) { // otherwise its start has failed after all
            runHere();
        }
    }

    /** Runs the body, or reports why it never runs, on a thread that does nothing else. */
    void runHere() {
        if (!LiveTasks.isCounted(this)) {
            parts().live().leave(this); // reported before, perhaps before it entered again
            return;
        }
        Scope scope = Scope.NOTHING;
        try {
            parts().threads().enter(threads(), this);
            scope = openContext();
            Throwable known = whyRefused();
            Throwable refusal = known == null ? rejectLate() : known;
            if (refusal == null) {
                // the body runs in this frame: what lies below a body is copied whenever it blocks
                Object value = null;
                Throwable failure = null;
                enterBody();
                try {
                    TaskBody next = next();
                    if (next != null) {
                        value = next.run();
                        value = next.isAwaited() ? await(value) : value;
                    }
                } catch (Throwable thrown) {
                    failure = thrown;
                } finally {
                    closeWindow();
                }
                leaveBody(value, failure);
            } else {
                giveBack();
                if (claimReport()) {
                    settleRejected();
                } else { // memory was short before, or another thread reports it, too, and may be held up by a listener
                    settle(null, null, refusal);
                }
            }
        } catch (Throwable shortage) { // nothing above throws, unless memory is short
            giveBack();
            boolean unused = future.fail(shortage);
        } finally {
            try {
                ContextPropagation.close(scope);
            } finally {
                leaveThread();
            }
        }
    }

    /** The time of the task may be over although it has its permit. Returns why the body must not run, null if it may. */
    private @Nullable Throwable rejectLate() {
        boolean stopped = parts().gate().isStopped();
        if (!stopped && !TimeBounds.isOverdue(this)) {
            return null;
        }
        Reason reason = stopped ? Reason.SHUTDOWN : TimeBounds.reason(this);
        onRejected(reason);
        Throwable refusal = refusal(reason);
        bodyOrRefusal = refusal;
        return refusal;
    }

    private void enterBody() {
        thread = Thread.currentThread();
        if (!future.isDone()) {
            started();
        }
        openWindow();
    }

    /** What is to run while the window is open, null for nothing. */
    private @Nullable TaskBody next() {
        if (parts().gate().isStopped()) {
            // the stop may have checked this task before there was anything to interrupt
            boolean unused = decide(Cause.STOPPED);
        } else if (TimeBounds.isOverdue(this)) { // nor may the timer have found anything to interrupt
            boolean unused = interrupt(TimeBounds.cause(this));
        } else if (!future.isDone() && bodyOrRefusal instanceof TaskBody body) { // read once: other threads release it
            return TimeBounds.bounded(this, body);
        }
        return null;
    }

    private void leaveBody(@Nullable Object value, @Nullable Throwable failure) {
        // once, and before anything that takes time: a stop may decide the outcome at any moment, but this body has
        // ended
        Cause interrupted = cause();
        giveBack();
        Throwable reported = failureOf(interrupted, failure);
        // before the context is opened again: a listener closes within the first scope what it opened there at the
        // start
        finished(outcome(interrupted, reported), reported);
        // decorators may leave an empty context behind: most of those that carry the MDC clear it
        Scope scope = bodyOrRefusal instanceof DecoratedBody ? ContextPropagation.open(context) : Scope.NOTHING;
        try {
            settle(interrupted, value, reported);
        } finally {
            ContextPropagation.close(scope);
        }
    }

    private Outcome outcome(@Nullable Cause interrupted, @Nullable Throwable failure) {
        if (interrupted != null) {
            return interrupted.outcome;
        }
        Outcome ofBody = failure == null ? Outcome.SUCCESS : Outcome.ERROR;
        return future.isCancelled() || !isStarted() ? Outcome.CANCELLED : ofBody;
    }

    /** Adds where the call was made, if that is configured. */
    <T extends Throwable> T withCallerTrace(T failure) {
        return failure;
    }

    private void settle(@Nullable Cause interrupted, @Nullable Object value, @Nullable Throwable failure) {
        Ending ending = future.isDone() ? null : Ending.of(whyRefused(), interrupted == Cause.STOPPED);
        LongAdder counted = parts().gate().count(spec(), ending); // before continuations, which may block
        if (ending == Ending.DROPPED && counted == null && failure instanceof LimitExceededException rejection) {
            parts().rejections().add(rejection); // no line of a stop has it
        }
        boolean first =
                failure == null ? future.succeed(value) : future.fail(withCallerTrace(failure), interrupted == null);
        if (!first && counted != null) {
            counted.decrement();
        }
        if (failure == null) {
            return;
        }
        if (!first) {
            Failures.late(spec(), failure);
        } else if (future.handler() != null) {
            report(future.handler(), failure);
        }
    }

    /** Passes a failure that nobody waits for to its handler. */
    @SuppressWarnings("ReferenceEquality") // the very exception: a body may get the rejection of another call
    final void report(FailureHandler handler, Throwable failure) {
        try {
            if (failure instanceof LimitExceededException && failure == whyRefused()) {
                handler.rejected(spec().name(), failure);
            } else {
                handler.failed(spec().name(), failure);
            }
        } catch (Throwable thrown) {
            Failures.ofHandler(spec(), failure, thrown);
        }
    }

    @Override
    final CapturedContext context() {
        return context;
    }

    /** Returns an action that completes the future of a task that did not end in spite of {@link #stop}, or was not reported. */
    Runnable givingUp() {
        Reason unreported = reason();
        if (unreported != null) {
            return () -> reportRejected(unreported);
        }
        // also stops a task that got its thread after the others were stopped
        stop();
        return settlement();
    }

    @Override
    void settleEarly() {
        settlement().run();
    }

    private Runnable settlement() {
        Cause interrupted = cause();
        Throwable refusal = whyRefused();
        Throwable failure = refusal == null ? failureOf(interrupted, null) : refusal;
        return () -> {
            Scope scope = openContext();
            try {
                settle(interrupted, null, failure);
            } finally {
                ContextPropagation.close(scope);
            }
        };
    }

    /** A platform thread, which reports one call after the other, may have a context already. */
    private Scope openContext() {
        if (Thread.currentThread().isVirtual()) {
            return ContextPropagation.open(context);
        }
        return parts().propagation().replace(context);
    }

    /** The task has left its queue because somebody completed its future. */
    void neverRun() {
        finished(Outcome.CANCELLED, null);
        release();
    }

    /** A counted task ends here, once. */
    private void release() {
        parts().live().end(this);
        letGo();
    }

    /** Releases the objects of the application, once, because futures may live longer. */
    void letGo() {
        if (!isRefused()) {
            bodyOrRefusal = null;
        }
        TimeBounds.forget(this);
        context = CapturedContext.EMPTY;
        future.detach();
    }
}
