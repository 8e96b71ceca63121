package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What was captured of a caller, for a task with a deadline: a task without one needs no field for it.
 *
 * <p>Continuations of the future see the deadline of the caller, and not that of the task: a fallback begins when the time of the task
 * is over.
 */
final class DeadlineContext implements CapturedContext {

    /** On a thread that had no deadline, and where nothing else was set: most calls need no scope of their own. */
    private static final Scope NOTHING_ELSE = () -> {
        Deadline unused = Deadline.open(null);
    };

    private final CapturedContext captured;
    private final @Nullable Deadline ofCaller;
    final Deadline deadline;
    private volatile @Nullable Future<?> entry; // in the timer
    private volatile boolean isForgotten;

    private DeadlineContext(CapturedContext captured, @Nullable Deadline ofCaller, Deadline deadline) {
        this.captured = captured;
        this.ofCaller = ofCaller;
        this.deadline = deadline;
    }

    /**
     * Captures the context of the current thread for a task.
     *
     * @param own time that the task has of its own, null for none
     * @param inherits whether the deadline of the thread is one of the task, too
     */
    static CapturedContext capture(ContextPropagation propagation, @Nullable Duration own, boolean inherits) {
        CapturedContext captured = propagation.capture();
        Deadline ofCaller = inherits ? Deadline.current() : null;
        Deadline deadline = Deadline.earliest(own, ofCaller);
        return deadline == null ? captured : new DeadlineContext(captured, ofCaller, deadline);
    }

    /** Whether the deadline is that of the caller. */
    boolean isInherited() {
        return deadline.equals(ofCaller);
    }

    /** Has the timer run an action after so many nanoseconds, unless the task has ended by then. */
    void watch(TaskTimer timer, Runnable action, long nanos) {
        entry = timer.schedule(action, nanos);
        if (isForgotten) {
            forget();
        }
    }

    /** Has the scope of the deadline, if there is one, end the task. Before the task looks whether its time is over. */
    <T> void enterScope(T task, Consumer<T> ender) {
        CallScope scope = deadline.scope();
        if (scope != null) {
            scope.add(task, ender);
            if (isForgotten) {
                scope.remove(task);
            }
        }
    }

    /** The task has ended. */
    void forget() {
        isForgotten = true;
        Future<?> scheduled = entry;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    @Override
    public Scope open() {
        Scope scope = ContextPropagation.open(captured);
        Deadline before = Deadline.open(ofCaller);
        if (before == null && scope.equals(Scope.NOTHING)) {
            return NOTHING_ELSE;
        }
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
