package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.core.task.TaskDecorator;

/**
 * The decorators of the application, around bodies. A decorator must run the body once, on the same thread; otherwise the call
 * fails.
 *
 * <p>As with Spring's own executors, a decorator does not see what a body throws.
 */
record TaskDecorators(LazyBeans<TaskDecorator> beans) {

    private static final Logger logger = LoggerFactory.getLogger(TaskDecorator.class);

    /**
     * Decorates a body, on the thread of the caller, from which decorators take what they carry. The first one is the innermost.
     * If one of them fails, the result throws that instead of running the body.
     */
    TaskBody decorate(String task, TaskBody body) {
        List<TaskDecorator> decorators = beans.get();
        if (decorators.isEmpty()) {
            return body;
        }
        DecoratedBody decorated = new DecoratedBody(task, body);
        try {
            decorators.forEach(decorated::decorateBy);
        } catch (Throwable failure) {
            return () -> {
                throw failure;
            };
        }
        return decorated;
    }

    /** A body inside its decorators. */
    static final class DecoratedBody implements TaskBody {

        private final String task;
        private final TaskBody body;
        private Runnable decorated = this::runHere;
        private @Nullable Thread thread;
        private @Nullable Deadline deadline; // of the task, while it runs
        private @Nullable Object outcome; // value or failure in one field, as a waiting call holds this object
        private boolean started;
        private boolean failed;

        private DecoratedBody(String task, TaskBody body) {
            this.task = task;
            this.body = body;
        }

        private void decorateBy(TaskDecorator decorator) {
            Runnable outer = decorator.decorate(decorated);
            if (outer == null) {
                throw new IllegalStateException(
                        "Task decorator %s returned null; it must return a Runnable".formatted(decorator));
            }
            decorated = outer;
        }

        @Override
        public boolean isAwaited() {
            return body.isAwaited();
        }

        @Override
        public @Nullable Object run() throws Throwable {
            thread = Thread.currentThread();
            deadline = Deadline.current();
            try {
                decorated.run();
            } catch (Throwable ofDecorator) {
                if (!started) {
                    throw ofDecorator;
                }
                SafeLog.write(logger, Level.ERROR, "A task decorator has failed after {}", task, null, ofDecorator);
            } finally {
                thread = null;
                deadline = null;
            }
            if (!started) {
                throw new IllegalStateException(
                        ("%s has not run: a task decorator returned without running it. A decorator must run"
                                        + " what it is given, once, on the same thread")
                                .formatted(task));
            }
            if (failed) {
                throw (Throwable) Objects.requireNonNull(outcome);
            }
            return outcome;
        }

        /** Permit, timeout and cancellation belong to the task's thread, so the body runs there, and once. */
        private void runHere() {
            if (started || !Thread.currentThread().equals(thread)) {
                throw new IllegalStateException(
                        "%s may run only once, on the thread of its task: a task decorator ran it again or on another thread"
                                .formatted(task));
            }
            started = true;
            Deadline carried = Deadline.open(deadline); // decorators may carry that of the caller
            try {
                outcome = body.run();
            } catch (Throwable thrown) {
                outcome = thrown;
                failed = true;
            } finally {
                Deadline unused = Deadline.open(carried);
            }
        }
    }
}
