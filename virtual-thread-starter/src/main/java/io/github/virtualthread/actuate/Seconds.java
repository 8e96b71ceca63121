package io.github.virtualthread.actuate;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Durations as numbers, for machines that read them. */
final class Seconds {

    private Seconds() {}

    /** In seconds, to the millisecond. */
    static double of(Duration duration) {
        return duration.toSeconds() + duration.toMillisPart() / 1e3;
    }

    /** In seconds, exactly; null for null. */
    static @Nullable Double setting(@Nullable Duration duration) {
        return duration == null ? null : duration.toSeconds() + duration.toNanosPart() / 1e9;
    }
}
