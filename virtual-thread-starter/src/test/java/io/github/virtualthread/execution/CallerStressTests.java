package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks and callers under one limit, at random. */
@Timeout(300)
@Tag("slow")
class CallerStressTests {

    private static final int THREADS = 12;
    private static final int CALLS = 3_000;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final AtomicLong unexpected = new AtomicLong();

    private @Nullable Object body(boolean fails) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        try {
            Thread.yield();
            if (fails) {
                throw new AssertionError("stress");
            }
            return null;
        } finally {
            running.decrementAndGet();
        }
    }

    private void count(@Nullable Throwable failure) {
        if (failure instanceof LimitExceededException) {
            rejected.incrementAndGet();
        } else if (failure == null || "stress".equals(failure.getMessage())) {
            ended.incrementAndGet();
        } else {
            unexpected.incrementAndGet();
        }
    }

    private void work(TestEngine test, SplittableRandom random) {
        TaskSpec spec = test.engine.spec("Test.mixed", "db");
        CompletableFuture<?> last = CompletableFuture.completedFuture(null);
        for (int i = 0; i < CALLS; i++) {
            boolean fails = random.nextInt(10) == 0;
            if (random.nextBoolean()) {
                last = test.engine.submit(spec, () -> body(fails)).handle((value, failure) -> {
                    count(failure);
                    return null;
                });
            } else {
                try {
                    test.engine.call(spec, () -> body(fails));
                    count(null);
                } catch (Throwable failure) {
                    count(failure);
                }
            }
        }
        last.join();
    }

    @Test
    void neverMoreBodiesThanPermitsRunWhetherTasksOrCallers() throws Exception {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom seeds = new SplittableRandom(seed);
        try (TestEngine test =
                new TestEngine(LimitSettings.of("db", 3).withQueueCapacity(6).withMaxWait(Duration.ofMillis(5)))) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom random = seeds.split();
                Thread.Builder builder = i % 2 == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
                threads.add(builder.start(() -> work(test, random)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            test.engine.stop(TestEngine.ENOUGH);

            System.out.printf("%s ended, %s rejected, at most %s at once%n", ended, rejected, most);
            assertThat(most).hasValue(3);
            assertThat(unexpected).hasValue(0);
            assertThat(rejected.get()).isPositive();
            assertThat(ended.get() + rejected.get()).isEqualTo((long) THREADS * CALLS);
            assertThat(test.limit("db").available()).isEqualTo(3);
            assertThat(test.limit("db").waiting()).isZero();
            assertThat(test.engine.isIdle()).isTrue();
        }
    }
}
