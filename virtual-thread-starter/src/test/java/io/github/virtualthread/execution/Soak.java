package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.timer.TimerEntries;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What {@link StressTests} does, for ten minutes and without a stop. Not one of the tests by its name: {@code mvn verify -Psoak}
 * runs it, {@code -Dsoak.minutes=...} sets its length.
 */
@Timeout(value = 24, unit = TimeUnit.HOURS)
class Soak {

    private static final long SEED = Long.getLong("stress.seed", System.nanoTime());
    private static final int MINUTES = Integer.getInteger("soak.minutes", 10);
    private static final int CALLS_EACH = 2_000;

    private record Left(long heap, int threads) {

        static Left by(StressLoad load) throws Exception {
            StressHeap.awaitNoThread("vt-Stress");
            // after a time-out the timer remembers the call for as long as its body may take to end
            TimerEntries.await(load.test.timer, TimeBounds.GRACE.plusMillis(100));
            return new Left(StressHeap.used(), StressHeap.numberOfThreads());
        }
    }

    @Test
    void heapAndThreadsAreInTheEndAsAfterTheFirstMinute() throws Exception {
        System.out.println("stress.seed=" + SEED);
        assertThat(MINUTES).as("soak.minutes").isGreaterThan(1);
        try (StressLoad load = new StressLoad(SEED)) {
            Left first = afterAMinute(load, 1);
            Left last = first;
            for (int minute = 2; minute <= MINUTES; minute++) {
                last = afterAMinute(load, minute);
            }

            assertThat(last.heap()).as("heap").isLessThan(first.heap() + first.heap() / 20);
            assertThat(last.threads()).as("threads").isLessThanOrEqualTo(first.threads() + first.threads() / 20);
            assertThat(load.seen.timedOut.sum()).isPositive();
            assertThat(load.seen.cancelled.sum()).isPositive();
        }
    }

    private static Left afterAMinute(StressLoad load, int minute) throws Exception {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < TimeUnit.MINUTES.toNanos(1)) {
            load.round(CALLS_EACH, null);
            load.limits.forEach(limit -> limit.reset(load.test));
        }
        Left left = Left.by(load);
        System.out.printf(
                "minute %d: %d KB of heap, %d threads, %s%n", minute, left.heap() >> 10, left.threads(), load.seen);
        assertThat(load.seen.ended()).isEqualTo(load.seen.submitted.sum());
        assertThat(load.heard.ended()).isEqualTo(load.seen.submitted.sum());
        assertThat(load.limits).allMatch(limit -> limit.tooMany() == 0);
        return left;
    }
}
