package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;

/** Numbers of things, as messages show them. */
@Internal
public final class Numbers {

    private Numbers() {}

    /**
     * A number with what it counts, as in {@code 1 permit} or {@code 20 permits}.
     *
     * @param number any number
     * @param noun what is counted, in the singular; its plural ends in {@code s}
     * @return both
     */
    public static String of(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
