package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bodies that end at about the moment when their time is over. */
@Timeout(300)
@Tag("slow")
class RunTimeoutRaceTests {

    private static final long TIMEOUT = TimeUnit.MILLISECONDS.toNanos(1);

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final AtomicInteger interrupted = new AtomicInteger();

    private void look() {
        if (Thread.currentThread().isVirtual() && Thread.currentThread().isInterrupted()) {
            interrupted.incrementAndGet();
        }
    }

    private static void spin(long nanos) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < nanos && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(20_000);
        }
    }

    @Test
    void eachEndsOnceAndItsInterruptReachesNothingThatFollows() throws Exception {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        TaskSpec spec = test.engine.spec("Test.race", "db", Duration.ofNanos(TIMEOUT));
        AtomicInteger values = new AtomicInteger();
        AtomicInteger timeouts = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        int number = 3_000;
        for (int i = 0; i < number; i++) {
            long length = random.nextLong(TIMEOUT * 2);
            CompletableFuture<?> ended = test.engine
                    .submit(spec, () -> {
                        spin(length);
                        return "value";
                    })
                    .handle((value, failure) -> {
                        look();
                        AtomicInteger outcome =
                                failure == null ? values : failure instanceof TimeoutException ? timeouts : others;
                        return outcome.incrementAndGet();
                    });
            CompletableFuture<?> next = test.submit("db", () -> {
                look();
                return null;
            });
            ended.join();
            next.join();
            assertThat(test.limit("db").available()).isEqualTo(1);
        }

        System.out.printf("%s in time, %s timed out%n", values, timeouts);
        assertThat(interrupted).hasValue(0);
        assertThat(others).hasValue(0);
        assertThat(values.get() + timeouts.get()).isEqualTo(number);
        assertThat(values.get()).isPositive();
        assertThat(timeouts.get()).isPositive();
        // the timer still has to schedule a look at the last one that it has interrupted
        TimerEntries.await(test.timer, Duration.ZERO);
        TimerEntries.await(test.timer, TaskEngine.GRACE);
        while (TimerEntries.count(test.timer) > 0) { // that look is on a thread of its own, for which the timer waits
            TimerEntries.await(test.timer, Duration.ofMillis(1));
        }
    }
}
