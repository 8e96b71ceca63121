package io.github.virtualthread.aop;

import io.github.virtualthread.limit.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Durations as annotations spell them. */
final class Timeouts {

    private Timeouts() {}

    /**
     * Reads a duration such as {@code 2s}, {@code 500ms} or {@code PT2S}.
     *
     * @return more than zero; null where the text is empty
     * @throws IllegalArgumentException if the text is something else; the message goes on after "timeout"
     */
    static @Nullable Duration parse(String text) {
        if (text.isEmpty()) {
            return null;
        }
        Duration timeout;
        try {
            timeout = DurationFormatterUtils.detectAndParse(text);
        } catch (RuntimeException unreadable) {
            throw new IllegalArgumentException("is no duration, was '%s'".formatted(text), unreadable);
        }
        if (!Durations.hasUnit(text)) {
            throw new IllegalArgumentException("must be a duration with its unit, was '%s'".formatted(text));
        }
        if (!timeout.isPositive()) {
            throw new IllegalArgumentException("must be longer than zero, was '%s'".formatted(text));
        }
        return timeout;
    }
}
