package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/** Durations as people write them and as messages show them. */
@Internal
public final class Durations {

    private static final Pattern NUMBER = Pattern.compile("[+-]?\\d+");

    private Durations() {}

    /**
     * Returns a duration as people write it in properties: {@code 1m30s}, {@code 0.5s}. That is ISO 8601 without its prefix.
     *
     * @param duration any duration
     * @return its text
     */
    public static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }

    /**
     * Whether a text is more than a number. A number alone is never accepted: it could mean seconds, as the endpoint shows them,
     * or milliseconds.
     *
     * @param text a duration, such as {@code 2s}, {@code PT2S} or {@code 2}
     * @return false for a number alone
     */
    public static boolean hasUnit(String text) {
        return !NUMBER.matcher(text.strip()).matches();
    }
}
