package io.github.virtualthread.execution;

import io.github.virtualthread.limit.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The longest run of one body. Holds a place in the timer while the body runs, and no thread. */
final class RunTimeout {

    private static final Logger logger = LoggerFactory.getLogger(RunTimeout.class);

    private RunTimeout() {}

    /**
     * Begins to count.
     *
     * @return to be cancelled when the body has ended
     */
    static Future<?> start(Task task, TaskEngine engine, Duration timeout) {
        return engine.timer().schedule(() -> expire(task, engine), TimeUnit.NANOSECONDS.convert(timeout));
    }

    /** Interrupts on the timer's thread: where bodies keep all carriers busy, no virtual thread would get to it. */
    private static void expire(Task task, TaskEngine engine) {
        if (task.timeOut()) {
            Future<?> unused = engine.timer()
                    .schedule(
                            () -> Thread.ofVirtual().start(() -> tellIfRunning(task)),
                            engine.patience().interrupted().toNanos());
            // the timer's thread must not block, and what hangs on a future may
            engine.threads().start(task.spec(), Thread.ofVirtual(), task::settleEarly);
        }
    }

    private static void tellIfRunning(Task task) {
        Thread thread = task.runningThread();
        if (thread != null) {
            logger.warn(
                    "{} does not react to the interrupt after its timeout of {}; it still runs and holds its permit of"
                            + " limit '{}'",
                    task.spec().name(),
                    text(task.spec()),
                    task.spec().limitName(),
                    stack(thread));
        }
    }

    /** To be logged: where a thread is at this moment. */
    static Throwable stack(Thread thread) {
        Throwable stack = new Throwable("Stack of " + thread.getName());
        stack.setStackTrace(thread.getStackTrace());
        return stack;
    }

    static TimeoutException exception(TaskSpec spec) {
        return new TimeoutException("%s ran longer than its timeout of %s under limit '%s' and was interrupted"
                .formatted(spec.name(), text(spec), spec.limitName()));
    }

    private static String text(TaskSpec spec) {
        return Durations.text(Objects.requireNonNull(spec.timeout()));
    }
}
