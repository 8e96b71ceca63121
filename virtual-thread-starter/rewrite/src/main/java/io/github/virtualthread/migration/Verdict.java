package io.github.virtualthread.migration;

import org.jspecify.annotations.Nullable;

/**
 * What becomes of an annotation.
 *
 * @param limit what the new one names, empty if nothing
 * @param obstacle why it stays as it is, null if it does not
 */
record Verdict(String limit, @Nullable String obstacle) {

    static Verdict moves(String limit) {
        return new Verdict(limit, null);
    }

    static Verdict stays(String obstacle) {
        return new Verdict("", obstacle);
    }
}
