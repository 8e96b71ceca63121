package io.github.virtualthread.context;

/** Where the log is all there is to tell. */
public final class SafeLog {

    private SafeLog() {}

    /**
     * Writes to the log. One that fails, often for the same MDC that has failed before, must not lose a call: nobody is left to
     * tell.
     *
     * @param line writes one line
     */
    @SuppressWarnings("EmptyCatch")
    public static void write(Runnable line) {
        try {
            line.run();
        } catch (Throwable brokenLog) {
            // a log cannot log that
        }
    }
}
