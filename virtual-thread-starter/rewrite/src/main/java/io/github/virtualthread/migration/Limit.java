package io.github.virtualthread.migration;

import org.jspecify.annotations.Nullable;

/**
 * A limit to be set.
 *
 * @param name its name
 * @param permits calls that may run at once
 * @param queue calls that may wait, null for any number
 * @param origin where the numbers are from
 */
record Limit(String name, String permits, @Nullable String queue, String origin) {

    /** For calls without a limit. */
    static final Limit NONE = new Limit("none", "", null, "");
}
