package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** What all calls of one name share. Created by the starter only. */
public abstract sealed class TaskSpec permits EngineSpec {

    private final String name;
    private final @Nullable TaskLimit limit;
    private final Common common;

    /** In one field, because each call with a key has a copy of its spec. */
    private static final class Common {

        private static final AtomicReferenceFieldUpdater<Common, @Nullable Kept> KEPT =
                AtomicReferenceFieldUpdater.newUpdater(Common.class, Kept.class, "kept");

        final @Nullable Duration timeout;
        final @Nullable Duration deadline;
        volatile @Nullable Kept kept;

        Common(@Nullable Duration timeout, @Nullable Duration deadline) {
            this.timeout = timeout;
            this.deadline = deadline;
        }
    }

    /** What listeners keep: a list, because there are one or two. */
    private record Kept(
            TaskListener listener, Object value, @Nullable Kept next) {}

    TaskSpec(String name, @Nullable TaskLimit limit, @Nullable Duration timeout, @Nullable Duration deadline) {
        this.name = name;
        this.limit = limit;
        this.common = new Common(timeout, deadline);
    }

    /** A copy, for one call. */
    TaskSpec(TaskSpec spec) {
        this.name = spec.name;
        this.limit = spec.limit;
        this.common = spec.common;
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
        return common.timeout;
    }

    /**
     * Time that a call has from its submission, for its wait and its run together. A call may have less, because of the deadline
     * of its caller.
     *
     * @return more than zero, null for none of its own
     */
    public final @Nullable Duration deadline() {
        return common.deadline;
    }

    /** What a listener keeps with this, null if nothing yet. Allocates nothing, so that the end of a call does not. */
    @SuppressWarnings("ReferenceEquality") // the very listener
    final @Nullable Object kept(TaskListener listener) {
        for (Kept each = common.kept; each != null; each = each.next) {
            if (each.listener == listener) {
                return each.value;
            }
        }
        return null;
    }

    /** Keeps what a listener has looked up; returns what it kept first. */
    final Object keep(TaskListener listener, Object value) {
        while (true) {
            Kept before = common.kept;
            Object present = kept(listener);
            if (present != null) {
                return present;
            }
            if (Common.KEPT.compareAndSet(common, before, new Kept(listener, value, before))) {
                return value;
            }
        }
    }

    /** Name of the limit, {@code "none"} for calls without a limit. */
    final String limitName() {
        return limit == null ? LimitNames.NONE : limit.name();
    }
}
