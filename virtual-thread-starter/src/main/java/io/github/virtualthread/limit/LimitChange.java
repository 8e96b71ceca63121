package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;

/**
 * A limit was changed while the application runs.
 *
 * @param limit name of the limit
 * @param before settings before the change
 * @param after settings after the change
 * @param by who changed it
 */
public record LimitChange(String limit, LimitSettings before, LimitSettings after, Source by) {

    /** Made by limits. */
    @Internal
    public LimitChange {}

    /** Who changes a limit. The last change wins, no matter who makes it. */
    public enum Source {
        /** The application, by {@link TaskLimit#resize} and the setters beside it. */
        CODE,
        /** An operator, by the actuator endpoint. */
        ENDPOINT,
        /** Changed properties. */
        ENVIRONMENT,
        /** The pool that the number of permits is taken from. */
        POOL
    }

    /** As in {@code Limit 'db' changed by CODE: 20 permits, queue of 100, unbounded wait -> 30 permits, ...}. */
    @Override
    public String toString() {
        return "Limit '%s' changed by %s: %s -> %s".formatted(limit, by, before.describe(), after.describe());
    }
}
