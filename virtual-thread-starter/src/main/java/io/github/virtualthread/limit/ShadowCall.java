package io.github.virtualthread.limit;

/** A call under a limit that only watches. By {@link System#nanoTime}. */
final class ShadowCall {

    /** In a shadow where the call waits, or was rejected. */
    static final long NOT = Long.MIN_VALUE;

    private static final long UNKNOWN = -1;

    final long came;
    private long ran = UNKNOWN;
    private final long[] begun = {NOT, NOT, NOT}; // in each of the shadows

    ShadowCall(long came) {
        this.came = came;
    }

    /** When it began in that shadow, or {@link #NOT}. */
    long begun(int shadow) {
        return begun[shadow];
    }

    void begin(int shadow, long moment) {
        begun[shadow] = moment;
    }

    /** It has really ended, so it is known how long it ran. */
    void end(long moment) {
        ran = moment - came;
    }

    boolean hasEnded() {
        return ran != UNKNOWN;
    }

    /** When it ends in that shadow, if it has begun there and has really ended: then or later. */
    long end(int shadow) {
        return begun[shadow] + ran;
    }
}
