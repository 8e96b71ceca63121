package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskTimer;
import java.util.Map;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * What was captured of a caller, for a task with a deadline: a task without one needs no field for it.
 *
 * <p>Continuations of the future see the deadline of the caller, and not that of the task: a fallback begins when the time of the task
 * is over.
 */
final class DeadlineContext implements CapturedContext {

    private final CapturedContext captured;
    private final @Nullable Deadline ofCaller;
    private final Deadline deadline;
    private @Nullable Future<?> entry; // in the timer; written before the task asks for its permit

    private DeadlineContext(CapturedContext captured, @Nullable Deadline ofCaller, Deadline deadline) {
        this.captured = captured;
        this.ofCaller = ofCaller;
        this.deadline = deadline;
    }

    /**
     * Captures the context of the current thread for a task.
     *
     * @param inherits whether the deadline of the thread is one of the task, too
     */
    static CapturedContext capture(Recipe recipe, boolean inherits) {
        CapturedContext captured = recipe.parts().propagation().capture();
        Deadline ofCaller = inherits ? Deadline.current() : null;
        Deadline deadline = Deadline.earliest(recipe.deadline(), ofCaller);
        return deadline == null ? captured : new DeadlineContext(captured, ofCaller, deadline);
    }

    /** What was captured for a task, null if it has no deadline, or has ended. */
    static @Nullable DeadlineContext of(Task task) {
        return task.context() instanceof DeadlineContext timed ? timed : null;
    }

    Deadline deadline() {
        return deadline;
    }

    /** Whether the deadline is that of the caller. */
    boolean isInherited() {
        return deadline.equals(ofCaller);
    }

    /** Has the task ask for its permit; from then on the timer ends it when its time is over. Returns why it was refused, or null. */
    @Nullable
    Reason ask(Task task) {
        if (deadline.isOver()) {
            return Reason.DEADLINE;
        }
        entry = task.parts()
                .timer()
                .schedule(() -> end(task), deadline.left()); // first: the task may have ended afterwards
        Reason refused = task.askForPermit();
        // the timer may have come before there was anything to end
        return refused == null && deadline.isOver() && task.leaveQueue() ? Reason.DEADLINE : refused;
    }

    /** On the thread of the timer. A task that neither waits nor runs looks at the clock itself. */
    private static void end(Task task) {
        if (!task.rejectWaiting(Reason.DEADLINE) && task.runningThread() != null) {
            TaskTimer timer = task.parts().timer();
            timer.handOff(() -> RunTimeout.expire(task, Cause.OVERDUE));
        }
    }

    /** The task has ended. */
    void forget() {
        Future<?> scheduled = entry;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    @Override
    public Scope open() {
        Scope scope = ContextPropagation.open(captured);
        Deadline before = Deadline.open(ofCaller);
        return () -> {
            Deadline unused = Deadline.open(before);
            ContextPropagation.close(scope);
        };
    }

    @Override
    public Map<String, String> mdc() {
        return captured.mdc();
    }
}
