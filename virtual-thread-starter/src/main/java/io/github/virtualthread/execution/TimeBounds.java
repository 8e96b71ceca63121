package io.github.virtualthread.execution;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the tasks of an engine that take too long: by their timeout or by their deadline. Each needs an entry in the timer, and no thread.
 *
 * <p>What is known of the deadline of a task is in what was captured of its caller. Nothing else looks there.
 *
 * @param timer ends runs, and hands over what may block
 * @param threads those that report
 * @param rejections writes what took too long to the log
 * @param grace how long a body may take to end after it was interrupted, before the log warns
 */
record TimeBounds(TaskTimer timer, TaskThreads threads, Rejections rejections, Duration grace) {

    private static final Logger logger = LoggerFactory.getLogger(TimeBounds.class);

    /** How often a statement that is being cancelled is looked after: then its thread has been interrupted, too. */
    private static final int LOOKS_AFTER_A_STATEMENT = 12;

    /** How long the body of an application may take to end after it was interrupted. */
    static final Duration GRACE = Duration.ofSeconds(1);

    /** Those of the engine of a call: what waits in the timer has no field for them. */
    private static TimeBounds of(InterruptibleCall call) {
        return call.parts().bounds();
    }

    /** What is known of the deadline of a call, null if it has none. */
    private static @Nullable DeadlineContext timed(InterruptibleCall call) {
        return call.context() instanceof DeadlineContext timed ? timed : null;
    }

    /** The deadline of a call, null if it has none, or has ended. */
    static @Nullable Deadline deadline(InterruptibleCall call) {
        DeadlineContext timed = timed(call);
        return timed == null ? null : timed.deadline;
    }

    static boolean isOverdue(InterruptibleCall call) {
        Deadline deadline = deadline(call);
        return deadline != null && deadline.isOver();
    }

    /** Why an overdue call is rejected. */
    static Reason reason(InterruptibleCall call) {
        Deadline deadline = deadline(call);
        return deadline == null ? Reason.DEADLINE : deadline.reason(Reason.DEADLINE);
    }

    /** Why the body of an overdue call is interrupted. */
    static Cause cause(InterruptibleCall call) {
        return reason(call) == Reason.CLIENT_GONE ? Cause.ABANDONED : Cause.OVERDUE;
    }

    /** The call has ended: the timer has nothing to end any more. */
    static void forget(InterruptibleCall call) {
        DeadlineContext timed = timed(call);
        if (timed != null) {
            timed.forget();
            CallScope scope = timed.deadline.scope();
            if (scope != null) {
                scope.remove(call);
            }
        }
    }

    /**
     * Asks for the permit of a task with a deadline. From then on the timer ends the task when its time is over, and where the limit
     * rejects hopeless calls, its wait when half of it is.
     *
     * @return why the task was refused, null if it was not
     */
    @Nullable
    Reason ask(Task task) {
        DeadlineContext timed = Objects.requireNonNull(timed(task));
        Deadline deadline = timed.deadline;
        if (deadline.isOver()) {
            return deadline.reason(Reason.DEADLINE);
        }
        boolean halved = task.waitIsHalved() && deadline.length() != null;
        Deadline ofWait = halved ? deadline.half() : deadline;
        // first: the task may have ended afterwards
        timed.enterScope(task, TimeBounds::endSoon);
        if (deadline.length() != null) {
            timed.watch(timer, halved ? () -> endHopeless(task, timed) : () -> endOverdue(task), ofWait.left());
        }
        Reason refused = task.askForPermit(halved ? ofWait.left() : Long.MAX_VALUE);
        // timer or scope may have come before there was anything to end
        Reason why = deadline.reason(halved ? Reason.HOPELESS : Reason.DEADLINE);
        return refused == null && ofWait.isOver() && task.leaveQueue() ? why : refused;
    }

    /** On the thread of the timer. */
    private static void endHopeless(Task task, DeadlineContext timed) {
        if (!task.rejectWaiting(Reason.HOPELESS)) {
            timed.watch(of(task).timer, () -> endOverdue(task), timed.deadline.left());
        }
    }

    /** By the timer, which tries again where memory or threads are short. */
    private static void endSoon(Task task) {
        Future<?> unused = of(task).timer.schedule(() -> endOverdue(task), 0);
    }

    /** On the thread of the timer. A task that neither waits nor runs looks at the clock itself. */
    static void endOverdue(Task task) {
        if (!task.rejectWaiting(reason(task)) && task.runningThread() != null) {
            of(task).timer.handOff(() -> of(task).endRun(task, cause(task)));
        }
    }

    /** A body may react to an interrupt for as long as it likes where nobody waits for it: it is interrupted once. */
    private void endRun(Task task, Cause why) {
        if (why == Cause.OVERDUE) {
            expire(task, why);
        } else if (task.cause() == null) {
            boolean unused = task.interrupt(why);
        }
    }

    /** Returns the body within timeout and deadline of its task: the body itself if there are none. */
    static TaskBody bounded(Task task, TaskBody body) {
        Deadline deadline = deadline(task);
        Duration timeout = task.spec().timeout();
        return timeout == null && deadline == null ? body : new BoundedBody(task, body);
    }

    /** Runs the body and waits for the future that it returns, both within timeout and deadline of the task. */
    private record BoundedBody(Task task, TaskBody body) implements TaskBody {

        @Override
        public @Nullable Object run() throws Throwable {
            Deadline deadline = deadline(task);
            if (deadline == null) {
                return runTimed();
            }
            Deadline before = Deadline.open(deadline);
            try {
                return runTimed();
            } finally {
                Deadline unused = Deadline.open(before);
            }
        }

        private @Nullable Object runTimed() throws Throwable {
            Duration longest = task.spec().timeout();
            Future<?> timeout =
                    longest == null ? null : task.schedule(longest, () -> of(task).expire(task, Cause.TIMED_OUT));
            try {
                Object value = body.run();
                return body.isAwaited() ? task.await(value) : value;
            } finally {
                if (timeout != null) {
                    timeout.cancel(false);
                }
            }
        }

        @Override
        public boolean isAwaited() {
            return false;
        }
    }

    /** Not on the timer's thread, because an interrupt closes the channel that a body is blocked on. */
    private void expire(Task task, Cause why) {
        if (task.interrupt(why)) {
            lookLater(task, why, LOOKS_AFTER_A_STATEMENT, false);
        }
    }

    private void lookLater(Task task, Cause why, int looks, boolean wasShielded) {
        try {
            Future<?> unused = task.schedule(grace, () -> warnIfRunning(task, why, looks - 1, wasShielded));
        } catch (OutOfMemoryError shortage) {
            // without the check whether the body reacts to the interrupt
        }
    }

    /**
     * Completes the future of a body that is about to be interrupted. Continuations and the log may block, so they get a thread.
     *
     * @param first whether nothing else has ended the call before
     */
    void report(InterruptibleCall task, Cause why, boolean first) {
        try {
            CallTimeoutException timeout = exception(task, why); // now: a task that has ended forgets its deadline
            timer.handOffReport(() -> {
                threads.adopt(task.threads());
                if (first) {
                    rejections.add(timeout);
                }
                task.settleEarly();
            });
        } catch (Throwable shortage) {
            // the end of the body completes the future
        }
    }

    /** Whatever ends a statement has more time than a body that was interrupted. After it, the body has as much as any other. */
    private void warnIfRunning(Task task, Cause why, int looks, boolean wasShielded) {
        Thread thread = task.runningThread();
        if (thread == null) {
            return;
        }
        boolean shielded = task.isShielded();
        if ((shielded || wasShielded) && looks > 0) {
            lookLater(task, why, looks, shielded);
            return;
        }
        logger.warn(
                "{} {} after its {} of {}; it still runs and holds its permit of limit '{}'{}",
                task.spec().name(),
                shielded ? "has not returned from its database driver" : "does not react to the interrupt",
                why == Cause.OVERDUE ? "deadline" : "timeout",
                Durations.text(length(task, why)),
                task.spec().limitName(),
                shielded ? ". Look at its session in the database" : "",
                stack(thread));
    }

    /** The stack of a thread at this moment, for the log. */
    static Throwable stack(Thread thread) {
        Throwable stack = new Throwable("Stack of " + thread.getName());
        stack.setStackTrace(thread.getStackTrace());
        return stack;
    }

    /** What the caller of a task sees that took too long. */
    static CallTimeoutException exception(InterruptibleCall task, Cause why) {
        TaskSpec spec = task.spec();
        DeadlineContext timed = timed(task);
        boolean inherited = timed != null && timed.isInherited();
        Kind kind = why == Cause.TIMED_OUT ? Kind.TIMEOUT : Kind.DEADLINE;
        return new CallTimeoutException(spec.name(), spec.limitName(), kind, length(task, why), inherited);
    }

    /** Zero where the task has ended and its deadline is forgotten. */
    private static Duration length(InterruptibleCall task, Cause why) {
        if (why == Cause.TIMED_OUT) {
            return Objects.requireNonNullElse(task.spec().timeout(), Duration.ZERO);
        }
        Deadline deadline = deadline(task);
        Duration length = deadline == null ? null : deadline.length();
        return length == null ? Duration.ZERO : length;
    }
}
