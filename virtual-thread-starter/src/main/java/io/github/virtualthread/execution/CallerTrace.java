package io.github.virtualthread.execution;

import org.jspecify.annotations.Nullable;

/**
 * The stack of a caller, recorded when it calls. The failure of the call carries it as a suppressed exception, because its own
 * stack begins on the thread of the task.
 */
final class CallerTrace extends Throwable {

    /** Maximum number of callers in one exception, so that an object that is thrown again and again does not grow forever. */
    static final int MOST_CALLERS = 8;

    private final String task;
    private final String thread;

    /**
     * Records the stack of the current thread.
     *
     * @param task name of the task that is called
     */
    CallerTrace(String task) {
        super(null, null, false, true);
        this.task = task;
        this.thread = Thread.currentThread().getName();
    }

    /** Attaches this, unless it is already attached, or the failure accepts no suppressed exceptions, or has too many. */
    void addTo(Throwable failure) {
        int callers = 0;
        for (Throwable suppressed : failure.getSuppressed()) {
            if (suppressed == this) {
                return;
            }
            callers += suppressed instanceof CallerTrace ? 1 : 0;
        }
        if (callers < MOST_CALLERS) {
            failure.addSuppressed(this);
        }
    }

    /** Built when it is read, because most calls do not fail. */
    @Override
    public String getMessage() {
        return "%s was called here, on thread %s".formatted(task, thread);
    }

    /** A task whose failure also shows where it was called. */
    static final class TracedTask extends Task {

        private final CallerTrace caller;

        /** Must be called on the caller's thread. */
        TracedTask(TaskSpec spec, TaskBody body, @Nullable FailureHandler handler) {
            super(spec, body, handler);
            this.caller = new CallerTrace(spec.name());
        }

        @Override
        <T extends Throwable> T withCallerTrace(T failure) {
            try {
                caller.addTo(failure);
            } catch (OutOfMemoryError shortage) {
                // without the trace, but still the right failure
            }
            return failure;
        }
    }
}
