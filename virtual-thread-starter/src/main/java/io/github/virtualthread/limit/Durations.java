package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.Locale;

/** Durations as messages show them. */
public final class Durations {

    private Durations() {}

    /**
     * As people write it in properties: {@code 1m30s}, {@code 0.5s}. That is ISO 8601 without its prefix.
     *
     * @param duration any duration
     * @return its text
     */
    public static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
