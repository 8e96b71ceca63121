package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What all calls under one name have in common. Made by the starter only, once for all of them. */
public class TaskSpec {

    private final String name;
    private final @Nullable TaskLimit limit;
    private final @Nullable Duration timeout;

    TaskSpec(String name, @Nullable TaskLimit limit, @Nullable Duration timeout) {
        this.name = name;
        this.limit = limit;
        this.timeout = timeout;
    }

    /**
     * Name of the tasks, as threads and messages show it.
     *
     * @return {@code Class.method}, or the name given in the annotation
     */
    public final String name() {
        return name;
    }

    /**
     * Limit that bounds the tasks.
     *
     * @return the limit, null for none
     */
    public final @Nullable TaskLimit limit() {
        return limit;
    }

    /**
     * Longest run of the body, from its start.
     *
     * @return more than zero, null for any time
     */
    public final @Nullable Duration timeout() {
        return timeout;
    }

    /** Name of the limit, {@code "none"} where there is none. */
    final String limitName() {
        return limit == null ? LimitNames.NONE : limit.name();
    }
}
