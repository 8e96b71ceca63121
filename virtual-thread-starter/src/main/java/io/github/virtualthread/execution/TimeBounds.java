package io.github.virtualthread.execution;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends tasks that take too long: by their timeout or by their deadline. Each needs an entry in the timer, and no thread. */
final class TimeBounds {

    private static final Logger logger = LoggerFactory.getLogger(TimeBounds.class);

    /** So often it is looked after a statement that is being cancelled: by then its thread has been interrupted, too. */
    private static final int LOOKS = 12;

    private TimeBounds() {}

    /**
     * Asks for the permit of a task with a deadline. From then on the timer ends the task when its time is over, and where the limit
     * rejects hopeless calls, its wait when half of it is.
     *
     * @return why the task was refused, null if it was not
     */
    static @Nullable Reason ask(Task task, DeadlineContext timed) {
        if (timed.deadline.isOver()) {
            return Reason.DEADLINE;
        }
        boolean halved = task.waitIsHalved();
        Deadline ofWait = halved ? timed.deadline.half() : timed.deadline;
        // first: the task may have ended afterwards
        timed.watch(
                task.parts().timer(), halved ? () -> endHopeless(task, timed) : () -> endOverdue(task), ofWait.left());
        Reason refused = task.askForPermit(halved ? ofWait.left() : Long.MAX_VALUE);
        // the timer may have come before there was anything to end
        Reason why = halved ? Reason.HOPELESS : Reason.DEADLINE;
        return refused == null && ofWait.isOver() && task.leaveQueue() ? why : refused;
    }

    /** On the thread of the timer. */
    private static void endHopeless(Task task, DeadlineContext timed) {
        if (!task.rejectWaiting(Reason.HOPELESS)) {
            timed.watch(task.parts().timer(), () -> endOverdue(task), timed.deadline.left());
        }
    }

    /** On the thread of the timer. A task that neither waits nor runs looks at the clock itself. */
    private static void endOverdue(Task task) {
        if (!task.rejectWaiting(Reason.DEADLINE) && task.runningThread() != null) {
            task.parts().timer().handOff(() -> expire(task, Cause.OVERDUE));
        }
    }

    /** Returns the body within timeout and deadline of its task: the body itself if there are none. */
    static TaskBody bounded(Task task, TaskBody body) {
        return task.spec().timeout() == null && !(task.context() instanceof DeadlineContext)
                ? body
                : new BoundedBody(task, body);
    }

    /** Runs the body and waits for the future that it returns, both within timeout and deadline of the task. */
    private record BoundedBody(Task task, TaskBody body) implements TaskBody {

        @Override
        public @Nullable Object run() throws Throwable {
            return task.context() instanceof DeadlineContext timed ? timed.deadline.run(this::runTimed) : runTimed();
        }

        private @Nullable Object runTimed() throws Throwable {
            Duration longest = task.spec().timeout();
            Future<?> timeout = longest == null ? null : task.schedule(longest, () -> expire(task, Cause.TIMED_OUT));
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
    private static void expire(Task task, Cause why) {
        if (task.interrupt(why)) {
            lookLater(task, why, LOOKS, false);
        }
    }

    private static void lookLater(Task task, Cause why, int looks, boolean wasShielded) {
        try {
            Future<?> unused =
                    task.schedule(task.parts().grace(), () -> warnIfRunning(task, why, looks - 1, wasShielded));
        } catch (OutOfMemoryError noRoom) {
            // without the check whether the body reacts to the interrupt
        }
    }

    /**
     * Completes the future of a body that is about to be interrupted. Continuations and the log may block, so they get a thread.
     *
     * @param first whether nothing else has ended the call before
     */
    static void reportTimeout(InterruptibleCall task, Cause why, boolean first) {
        EngineParts parts = task.parts();
        try {
            CallTimeoutException timeout =
                    task.timeoutException(why); // now: a task that has ended forgets its deadline
            parts.timer().handOffReport(() -> {
                parts.threads().adopt(task.threads());
                if (first) {
                    parts.rejections().add(timeout);
                }
                task.settleEarly();
            });
        } catch (Throwable noThread) {
            // the end of the body completes the future
        }
    }

    /** Whatever ends a statement has more time than a body that was interrupted. After it, the body has as much as any other. */
    private static void warnIfRunning(Task task, Cause why, int looks, boolean wasShielded) {
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

    static CallTimeoutException exception(Task task, Cause why) {
        TaskSpec spec = task.spec();
        boolean inherited = task.context() instanceof DeadlineContext timed && timed.isInherited();
        Kind kind = why == Cause.TIMED_OUT ? Kind.TIMEOUT : Kind.DEADLINE;
        return new CallTimeoutException(spec.name(), spec.limitName(), kind, length(task, why), inherited);
    }

    /** Zero where the task has ended and its deadline is forgotten. */
    private static Duration length(Task task, Cause why) {
        Duration ofDeadline = task.context() instanceof DeadlineContext timed ? timed.deadline.length() : null;
        Duration length = why == Cause.TIMED_OUT ? task.spec().timeout() : ofDeadline;
        return Objects.requireNonNullElse(length, Duration.ZERO);
    }
}
