package io.github.virtualthread.limit;

/**
 * How many calls a limit has finished lately per nanosecond, while it was full. It looks at a count that there is anyway, and only when
 * a call finds no permit. One time of being full says nothing about another. Everything needs the lock of the limit.
 */
final class Pace {

    private static final long WINDOW_NANOS = 1_000_000_000;
    private static final int FEWEST_ENDS = 10;

    private long full; // since when, at the last look
    private long before; // where the window before the present one began
    private long completedBefore; // until then
    private long since; // where the present one began
    private long completedSince;

    /**
     * A call finds no permit. The present window ends if it is long enough and has seen enough.
     *
     * @param fullSince since when the limit has been full, 0 if it is not
     * @param now this moment
     * @param completed how many calls have ended
     */
    void look(long fullSince, long now, long completed) {
        boolean begins = full != fullSince;
        if (begins || (now - since >= WINDOW_NANOS && completed - completedSince >= FEWEST_ENDS)) {
            before = begins ? now : since;
            completedBefore = begins ? completed : completedSince;
            since = now;
            completedSince = completed;
            full = fullSince;
        }
    }

    /**
     * How many nanoseconds pass until so many permits have come free; 0 if that is not known. Otherwise as {@link #look}.
     *
     * @param running number of calls that run. They count as if they ended now: where runs end together, the pace would be too low
     *     just before they do
     */
    long nanosUntil(int permits, int running, long fullSince, long now, long completed) {
        long seen = completed - completedBefore;
        if (fullSince == 0 || full != fullSince || seen < FEWEST_ENDS) {
            return 0;
        }
        return (long) ((double) permits * (now - before) / (seen + running));
    }
}
