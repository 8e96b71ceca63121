package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What all calls under one name have in common. Made once by {@link TaskEngine#spec}, used by every call. */
public final class TaskSpec {

    private final TaskEngine engine;
    private final String name;
    private final @Nullable TaskLimit limit;
    private final @Nullable Duration timeout;
    private final TaskThreads.Named threads;

    TaskSpec(
            TaskEngine engine,
            String name,
            @Nullable TaskLimit limit,
            @Nullable Duration timeout,
            TaskThreads.Named threads) {
        this.engine = engine;
        this.name = name;
        this.limit = limit;
        this.timeout = timeout;
        this.threads = threads;
    }

    /**
     * Name of the tasks, as threads and messages show it.
     *
     * @return {@code Class.method}, or the name given in the annotation
     */
    public String name() {
        return name;
    }

    /**
     * Limit that bounds the tasks.
     *
     * @return the limit, null for none
     */
    public @Nullable TaskLimit limit() {
        return limit;
    }

    /**
     * Longest run of the body, from its start.
     *
     * @return more than zero, null for any time
     */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Name of the limit, {@code "none"} where there is none. */
    String limitName() {
        return limit == null ? LimitNames.NONE : limit.name();
    }

    /** Engine of the calls: held here, once for all of them. */
    TaskEngine engine() {
        return engine;
    }

    TaskThreads.Named threads() {
        return threads;
    }
}
