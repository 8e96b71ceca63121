package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Hears of every call of an annotated method and by hand, {@code @Limited} included. Beans of this type are found by
 * themselves, when the first call is made, and are called in their order.
 *
 * <p>Of each call a listener first hears that it was submitted. Then it is either rejected, or finished: mostly after it was
 * started, but a call that is cancelled while it waits, or that gets no thread, finishes without. So every submitted call ends
 * in exactly one of {@link #rejected} and {@link #finished}, and before its future is complete unless somebody else completes
 * that: a timeout and the end of a stop do not wait for the body, which is finished when it ends.
 *
 * <p>Must be thread-safe, short, and must not block: it runs on the threads of callers and of tasks. What it throws is logged
 * and changes nothing for the call.
 */
public interface TaskListener {

    /** How a call ended. */
    enum Outcome {
        /** The body returned a value, or nothing. */
        SUCCESS,
        /** The body has failed, or its thread could not be started. */
        ERROR,
        /** The body was interrupted since it ran longer than its timeout. */
        TIMEOUT,
        /** Somebody cancelled the call, or completed its future before it had started, or the application stopped. */
        CANCELLED
    }

    /**
     * A call was made. On the thread of its caller, before its limit is asked.
     *
     * @param call the call
     */
    default void submitted(TaskCall call) {}

    /**
     * A call has its permit, and its body is about to run. On the thread of the body, with the context of the caller.
     *
     * @param call the call; {@link TaskCall#waited()} is known now
     */
    default void started(TaskCall call) {}

    /**
     * A call has ended, and its permit is back. On the thread of the body, with the context of the caller, as far as the task
     * decorators of the application have left it; for a call that was never started on that of whoever ended it.
     *
     * @param call the call; {@link TaskCall#ran()} is known now
     * @param outcome how it ended
     * @param failure what its caller gets to see; null for {@link Outcome#SUCCESS}, and for a call that was cancelled before it
     *     started, or without an interrupt while its body ran
     */
    default void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {}

    /**
     * A call runs longer than {@code virtual-thread.stuck-after}. Once for each call, on a thread of the starter.
     *
     * @param call the call, which still runs
     */
    default void stuck(TaskCall call) {}

    /**
     * A virtual thread has kept its carrier busy while it was blocked, for longer than {@code virtual-thread.pinning.threshold}.
     * Told a moment later, when the call may have ended, on a thread of the JVM's flight recorder.
     *
     * @param task name of the call that was running on the thread, {@code none} for a thread that ran none
     * @param time how long it was pinned
     */
    default void pinned(String task, Duration time) {}

    /**
     * A call was refused by its limit, or since the application stops. On the thread of the caller if it was refused at
     * once, else on a virtual thread.
     *
     * @param call the call; {@link TaskCall#waited()} is known now
     * @param rejection what its caller gets to see
     */
    default void rejected(TaskCall call, LimitExceededException rejection) {}
}
