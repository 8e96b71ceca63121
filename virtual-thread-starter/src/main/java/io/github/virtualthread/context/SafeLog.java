package io.github.virtualthread.context;

import io.github.virtualthread.Internal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** Writes to the log where a failure of the log must not matter. */
@Internal
public final class SafeLog {

    private SafeLog() {}

    /**
     * Writes one line. A log that fails, often because of the same MDC that failed before, must not lose a call. That failure
     * cannot be reported anywhere.
     *
     * @param line writes one line
     */
    public static void write(Runnable line) {
        try {
            line.run();
        } catch (Throwable brokenLog) {
            // a log cannot log that
        }
    }

    /**
     * Writes one line. Throws nothing, and needs no object from the caller that could not be allocated if memory is short.
     *
     * @param logger writes the line
     * @param level level of the line
     * @param message text with up to two {@code {}}
     * @param first for the first {@code {}}
     * @param second for the second {@code {}}
     * @param failure with its stack, null for none
     */
    public static void write(
            Logger logger,
            Level level,
            String message,
            @Nullable Object first,
            @Nullable Object second,
            @Nullable Throwable failure) {
        try {
            logger.atLevel(level)
                    .setMessage(message)
                    .addArgument(first)
                    .addArgument(second)
                    .setCause(failure)
                    .log();
        } catch (Throwable brokenLog) {
            // a log cannot log that
        }
    }
}
