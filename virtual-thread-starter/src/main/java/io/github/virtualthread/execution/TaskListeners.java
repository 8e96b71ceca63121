package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** All listeners as one. An exception of one of them reaches neither the call nor the other listeners. */
record TaskListeners(LazyBeans<TaskListener> beans) {

    private static final Logger logger = LoggerFactory.getLogger(TaskListener.class);

    static final Event SUBMITTED = (listener, call, none, nothing) -> listener.submitted(call);
    static final Event STARTED = (listener, call, none, nothing) -> listener.started(call);
    static final Event STUCK = (listener, call, none, nothing) -> listener.stuck(call);

    @SuppressWarnings("NullAway") // this one has an outcome
    static final Event FINISHED = (listener, call, outcome, failure) -> listener.finished(call, outcome, failure);

    @SuppressWarnings("NullAway") // this one has a rejection
    static final Event REJECTED =
            (listener, call, none, rejection) -> listener.rejected(call, (LimitExceededException) rejection);

    /** Whether any listener hears calls of that spec. */
    boolean listensTo(TaskSpec spec) {
        List<TaskListener> listeners = beans.get();
        for (int i = 0; i < listeners.size(); i++) {
            if (listens(listeners.get(i), spec)) {
                return true;
            }
        }
        return false;
    }

    private static boolean listens(TaskListener listener, TaskSpec spec) {
        try {
            return listener.hears(spec);
        } catch (Throwable thrown) {
            log(listener, spec, thrown);
            return true; // rather one event too many
        }
    }

    /** Allocates nothing: a listener that saw the beginning of a call also sees its end if memory is short. */
    void notifyEach(TaskCall call, Event event, @Nullable Outcome outcome, @Nullable Throwable failure) {
        List<TaskListener> listeners = beans.get();
        for (int i = 0; i < listeners.size(); i++) {
            TaskListener listener = listeners.get(i);
            try {
                event.happened(listener, call, outcome, failure);
            } catch (Throwable thrown) {
                log(listener, call.spec(), thrown);
            }
        }
    }

    private static void log(TaskListener listener, TaskSpec spec, Throwable thrown) {
        SafeLog.write(logger, Level.ERROR, "{} has failed on a call of {}", listener, spec.name(), thrown);
    }

    /** What happened to a call; outcome and failure are null where it has none. */
    interface Event {

        void happened(TaskListener listener, TaskCall call, @Nullable Outcome outcome, @Nullable Throwable failure);
    }
}
