package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A clock that goes on while the machine is suspended, and is not misled by whoever sets the wall clock. */
@Timeout(300)
@Tag("jdk")
class SuspendedClockTests {

    private static final long HOUR = TimeUnit.HOURS.toMillis(1);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5)); // overflows soon
    private final AtomicLong wall = new AtomicLong(1_795_000_000_000L);
    private final SuspendedClock clock = new SuspendedClock(nanos::get, wall::get);
    private final long start = clock.getAsLong();

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
        wall.addAndGet(millis);
    }

    private long passed() {
        return TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - start);
    }

    @Test
    void countsTheTimeForWhichTheNanosecondsStoodStill() {
        pass(1_000);
        assertThat(passed()).isEqualTo(1_000);
        wall.addAndGet(30_000);
        assertThat(passed()).isEqualTo(31_000);
        assertThat(passed()).as("once").isEqualTo(31_000);
        pass(1_000);
        wall.addAndGet(HOUR);
        assertThat(passed()).isEqualTo(32_000 + HOUR);
    }

    @Test
    void aSmallDriftIsNoSuspensionHoweverLongItGoesOn() {
        for (int i = 0; i < 10_000; i++) {
            pass(1_000);
            wall.addAndGet(1); // a wall clock that is corrected all the time
            assertThat(passed()).isEqualTo((i + 1) * 1_000L);
        }
    }

    @Test
    void aStepOfUpToASecondIsNoSuspension() {
        wall.addAndGet(1_000);
        assertThat(passed()).isZero();
        wall.addAndGet(1_001);
        assertThat(passed()).isEqualTo(1_001);
    }

    @Test
    void neverGoesBackWithTheWallClock() {
        wall.addAndGet(-HOUR);
        assertThat(passed()).isZero();
        pass(1_000);
        assertThat(passed()).isEqualTo(1_000);
        wall.addAndGet(HOUR);
        assertThat(passed()).as("could be a suspension").isEqualTo(1_000 + HOUR);
        wall.addAndGet(-HOUR);
        assertThat(passed()).isEqualTo(1_000 + HOUR);
    }

    /** It looks at two clocks, one after the other. */
    @Test
    void aThreadThatStandsStillBetweenItsTwoLooksSeesNoSuspension() {
        AtomicLong pauses = new AtomicLong();
        SuspendedClock between = new SuspendedClock(nanos::get, () -> {
            if (pauses.getAndDecrement() == 1) {
                pass(5_000);
            }
            return wall.get();
        });
        long before = between.getAsLong();
        pauses.set(1);

        between.getAsLong();

        assertThat(TimeUnit.NANOSECONDS.toMillis(between.getAsLong() - before)).isEqualTo(5_000);
    }

    @Test
    void goesBackForNoThreadAndCountsEachSuspensionOnce() throws Exception {
        List<CompletableFuture<Boolean>> readers = new ArrayList<>();
        CountDownLatch reading = new CountDownLatch(8);
        AtomicLong stop = new AtomicLong();
        for (int i = 0; i < 8; i++) {
            CompletableFuture<Boolean> ascends = new CompletableFuture<>();
            readers.add(ascends);
            Thread.ofPlatform().daemon().start(() -> {
                boolean all = true;
                long last = clock.getAsLong();
                reading.countDown();
                while (stop.get() == 0) {
                    long next = clock.getAsLong();
                    all &= next - last >= 0;
                    last = next;
                }
                ascends.complete(all);
            });
        }
        reading.await();
        for (int i = 0; i < 2_000; i++) {
            wall.addAndGet(2_000);
            clock.getAsLong();
        }
        stop.set(1);

        for (CompletableFuture<Boolean> each : readers) {
            assertThat(each.get()).isTrue();
        }
        assertThat(passed()).isEqualTo(2_000 * 2_000);
    }
}
