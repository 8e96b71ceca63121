package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * A running call was ended by its timeout, by its deadline or by the deadline of its caller. Its body was interrupted, and holds
 * its permit until it ends.
 *
 * <p>Methods that return a future deliver it through the future, {@code void} methods to the uncaught-exception handler. It has
 * no stack, because it is made outside the body.
 */
public final class CallTimeoutException extends TimeoutException {

    private static final long serialVersionUID = 1L;

    /** What ended a call. */
    public enum Kind {
        /** Its timeout, which counts from the start of the body. */
        TIMEOUT,
        /** Its deadline or that of its caller, which counts the wait too. */
        DEADLINE
    }

    private final String task;
    private final String limit;
    private final Kind kind;
    private final Duration bound;

    /**
     * Creates a failure of a call that took too long.
     *
     * @param task name of the task
     * @param limit name of its limit, {@code "none"} for a call without a limit
     * @param kind what ended it
     * @param bound length of its timeout or deadline
     * @param inherited whether the deadline is that of its caller
     */
    public CallTimeoutException(String task, String limit, Kind kind, Duration bound, boolean inherited) {
        super("%s ran %s of %s under limit '%s' and was interrupted"
                .formatted(task, passed(kind, inherited), Durations.text(bound), limit));
        this.task = task;
        this.limit = limit;
        this.kind = kind;
        this.bound = bound;
    }

    private static String passed(Kind kind, boolean inherited) {
        if (kind == Kind.TIMEOUT) {
            return "longer than its timeout";
        }
        return inherited ? "past its caller's deadline" : "past its deadline";
    }

    /** Called by the constructor of {@link Throwable}: walks no stack. */
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // does nothing
    public Throwable fillInStackTrace() {
        return this;
    }

    /**
     * Name of the limit under which the call ran.
     *
     * @return the name, {@code "none"} for a call without a limit
     */
    public String limit() {
        return limit;
    }

    /**
     * Name of the task.
     *
     * @return {@code Class.method}, or the name given in the annotation
     */
    public String task() {
        return task;
    }

    /**
     * Length of the timeout or deadline that ended the call.
     *
     * @return time from the start of the body for a timeout; from the moment when it was set for a deadline
     */
    public Duration bound() {
        return bound;
    }

    /**
     * What ended the call.
     *
     * @return timeout or deadline
     */
    public Kind kind() {
        return kind;
    }
}
