package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Is notified of every call of an annotated method and by hand, including {@code @Limited}. Beans of this type are found
 * automatically when the first call is made, and they are called in their order.
 *
 * <p>A call is first submitted. Then it is either rejected or finished. Usually it was started in between, but a call that is
 * cancelled while it waits, or that gets no thread, finishes without. So every submitted call ends in exactly one of
 * {@link #rejected} and {@link #finished}. That happens before its future is complete, unless somebody else completes the
 * future: a timeout and the end of a stop do not wait for the body, and the call is finished when the body ends.
 *
 * <p>A listener must be thread-safe, short, and must not block, because it runs on the threads of callers and of tasks. An
 * exception is logged and changes nothing for the call.
 */
public interface TaskListener {

    /** How a call ended. */
    enum Outcome {
        /** The body returned a value, or nothing. */
        SUCCESS,
        /** The body failed, or its thread could not be started. */
        ERROR,
        /** The body was interrupted because it ran longer than its timeout. */
        TIMEOUT,
        /** The call was cancelled, or its future was completed before the call started, or the application stopped. */
        CANCELLED
    }

    /** What became of a statement whose body was stopped. */
    enum StatementOutcome {
        /** The database ended it, and its connection is kept. */
        CANCELLED,
        /** It came to its end before the cancel did. */
        COMPLETED,
        /** It was not sent, because its body had been stopped before. A commit became a rollback. */
        REFUSED,
        /** It did not end, so its thread was interrupted: mostly its connection is lost, and the database may go on with it. */
        INTERRUPTED,
        /** The cancel itself did not return, so the connection was closed: the database may go on with the statement. */
        ABORTED
    }

    /**
     * Whether the listener has a use for events of such a call. Asked at every call, on the caller's thread, before {@link
     * #submitted}. A call that no listener hears is reported to none, and costs what a call without listeners costs. If another
     * listener hears it, this one is notified too. {@link #pinned} does not depend on this.
     *
     * @param spec what the call shares with all others of its name
     * @return true if not overridden
     */
    default boolean hears(TaskSpec spec) {
        return true;
    }

    /**
     * A call was made. Called on the caller's thread, before the limit is asked.
     *
     * @param call the call
     */
    default void submitted(TaskCall call) {}

    /**
     * A call has its permit, and its body is about to run. Called on the thread of the body, with the caller's context.
     *
     * @param call the call; {@link TaskCall#waited()} is final now
     */
    default void started(TaskCall call) {}

    /**
     * A call has ended, and its permit is back. Called on the thread of the body, with the caller's context as the task
     * decorators of the application left it. For a call that never started, called on the thread that ended it.
     *
     * @param call the call; {@link TaskCall#ran()} is final now
     * @param outcome how the call ended
     * @param failure what the caller sees; null for {@link Outcome#SUCCESS}, and for a call that was cancelled before it started,
     *     or without an interrupt while its body ran
     */
    default void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {}

    /**
     * A call runs longer than {@code virtual-thread.stuck-after}. Called once for each call, on a thread of the starter.
     *
     * @param call the call, which still runs
     */
    default void stuck(TaskCall call) {}

    /**
     * A call was stopped while a statement of its body ran, or before the body sent it. Called on the thread of the body, with
     * {@code virtual-thread.jdbc.cancel-statements}.
     *
     * @param call the call, whose body still runs
     * @param outcome what became of the statement
     */
    default void statementEnded(TaskCall call, StatementOutcome outcome) {}

    /**
     * A blocked virtual thread was pinned to its carrier for longer than {@code virtual-thread.pinning.threshold}. Called a
     * moment later, when the call may have ended, on a thread of the JVM's flight recorder.
     *
     * @param task name of the call that ran on the thread, {@code none} if it ran none
     * @param time how long the thread was pinned
     */
    default void pinned(String task, Duration time) {}

    /**
     * A call was rejected by its limit, or because the application is stopping. Called on the caller's thread if the call was
     * rejected at once, otherwise on a virtual thread, or on a platform thread if no carrier is free.
     *
     * @param call the call; {@link TaskCall#waited()} is final now
     * @param rejection what the caller sees
     */
    default void rejected(TaskCall call, LimitExceededException rejection) {}
}
