package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What all calls of one name share. Created by the starter only. */
public class TaskSpec {

    private final String name;
    private final @Nullable TaskLimit limit;
    private final Times times;

    /** In one field, because each call with a key has a copy of its spec. */
    private record Times(
            @Nullable Duration timeout, @Nullable Duration deadline) {}

    TaskSpec(String name, @Nullable TaskLimit limit, @Nullable Duration timeout, @Nullable Duration deadline) {
        this.name = name;
        this.limit = limit;
        this.times = new Times(timeout, deadline);
    }

    /** A copy, for one call. */
    TaskSpec(TaskSpec shared) {
        this.name = shared.name;
        this.limit = shared.limit;
        this.times = shared.times;
    }

    /**
     * Name of the calls, as threads and messages show it.
     *
     * @return {@code Class.method}, or the name given in the annotation
     */
    public final String name() {
        return name;
    }

    /**
     * Limit that bounds the calls.
     *
     * @return the limit, null for none
     */
    public final @Nullable TaskLimit limit() {
        return limit;
    }

    /**
     * Maximum run of the body, from its start.
     *
     * @return more than zero, null for no maximum
     */
    public final @Nullable Duration timeout() {
        return times.timeout;
    }

    /**
     * Time that a call has from its submission, for its wait and its run together. A call may have less, because of the deadline
     * of its caller.
     *
     * @return more than zero, null for none of its own
     */
    public final @Nullable Duration deadline() {
        return times.deadline;
    }

    /** Name of the limit, {@code "none"} for calls without a limit. */
    final String limitName() {
        return limit == null ? LimitNames.NONE : limit.name();
    }
}
