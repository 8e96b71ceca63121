package io.github.virtualthread.limit;

import java.time.Duration;

/** How long many calls have waited: counted in steps of a microsecond, which grow with the wait, so that each is right to 1 %. */
final class Waits {

    private static final int UNIT = 10; // bits: 1.024 microseconds
    private static final int STEPS = 6; // bits: 64 steps until the wait has doubled
    private static final long LONGEST = 1L << 40; // in units: 13 days

    private final long[] counts = new long[index(LONGEST) + 1];
    private long number;
    private long total;
    private long longest;

    void add(long nanos) {
        counts[index(Math.min(LONGEST, nanos >> UNIT))]++;
        number++;
        total += nanos;
        longest = Math.max(longest, nanos);
    }

    private static int index(long units) {
        int shift = Math.max(0, Long.SIZE - 1 - STEPS - Long.numberOfLeadingZeros(units));
        return (shift << STEPS) + (int) (units >> shift);
    }

    /** The middle of a step. */
    private static long nanos(int index) {
        int shift = Math.max(0, (index >> STEPS) - 1);
        long units = index - ((long) shift << STEPS);
        return ((units << shift) + (1L << shift >> 1)) << UNIT;
    }

    long number() {
        return number;
    }

    Duration total() {
        return Duration.ofNanos(total);
    }

    Duration longest() {
        return Duration.ofNanos(longest);
    }

    /** The wait that so large a part of the calls did not exceed; zero if there was none. */
    Duration quantile(double part) {
        long left = (long) Math.ceil(part * number);
        for (int i = 0; i < counts.length; i++) {
            left -= counts[i];
            if (left <= 0) {
                return Duration.ofNanos(Math.min(nanos(i), longest));
            }
        }
        return Duration.ZERO;
    }
}
