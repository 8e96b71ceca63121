package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All listeners as one. What one of them throws reaches neither the call nor the other listeners. Who has not heard that a call
 * was submitted hears nothing of it.
 */
final class TaskListeners {

    private static final Logger logger = LoggerFactory.getLogger(TaskListener.class);

    private final Beans<TaskListener> beans;
    private final Rejections rejections;

    TaskListeners(Beans<TaskListener> beans, Rejections rejections) {
        this.beans = beans;
        this.rejections = rejections;
    }

    void submitted(Call call) {
        if (!beans.get().isEmpty()) {
            call.hear();
            tell(call, listener -> listener.submitted(call));
        }
    }

    void started(Call call) {
        tell(call, listener -> listener.started(call));
    }

    void finished(Call call, Outcome outcome, @Nullable Throwable failure) {
        tell(call, listener -> listener.finished(call, outcome, failure));
    }

    void stuck(Call call) {
        tell(call, listener -> listener.stuck(call));
    }

    void rejected(Call call, LimitExceededException rejection) {
        rejections.add(rejection); // whether anybody listens or not
        tell(call, listener -> listener.rejected(call, rejection));
    }

    private void tell(Call call, Consumer<TaskListener> event) {
        for (TaskListener listener : call.isHeard() ? beans.get() : List.<TaskListener>of()) {
            try {
                event.accept(listener);
            } catch (Throwable failure) {
                SafeLog.write(() -> logger.error(
                        "{} has failed on a call of {}", listener, call.spec().name(), failure));
            }
        }
    }
}
