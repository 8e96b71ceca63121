package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Everything at once, at random. The seed is printed; {@code -Dstress.seed=...} runs the same choices again. */
@Timeout(60)
class StressTests {

    private static final long SEED = Long.getLong("stress.seed", System.nanoTime());
    private static final long RUN = TimeUnit.SECONDS.toNanos(Long.getLong("stress.seconds", 4));
    private static final int THREADS = 8;
    private static final Map<String, Integer> PERMITS = Map.of("one", 1, "bounded", 2, "impatient", 3);

    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong cancelled = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final AtomicInteger tooMany = new AtomicInteger();
    private final Map<String, AtomicInteger> running =
            Map.of("one", new AtomicInteger(), "bounded", new AtomicInteger(), "impatient", new AtomicInteger());

    @Test
    void everyCallEndsOnceAndEveryPermitComesBack() throws Exception {
        System.out.println("stress.seed=" + SEED);
        AtomicLong submitted = new AtomicLong();
        try (TestEngine test = new TestEngine(
                LimitSettings.of("one", 1),
                LimitSettings.of("bounded", 2).withQueueCapacity(20),
                LimitSettings.of("impatient", 3).withMaxWait(Duration.ofMillis(1)))) {
            List<Thread> callers = new ArrayList<>();
            SplittableRandom seeds = new SplittableRandom(SEED);
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom random = seeds.split();
                callers.add(Thread.ofPlatform().start(() -> submitted.addAndGet(call(test, random))));
            }
            for (Thread caller : callers) {
                caller.join();
            }

            test.engine.stop(TestEngine.ENOUGH);

            assertThat(List.of(succeeded, failed, cancelled, rejected)).allMatch(count -> count.get() > 0);
            assertThat(succeeded.get() + failed.get() + cancelled.get() + rejected.get())
                    .isEqualTo(submitted.get());
            assertThat(tooMany).hasValue(0);
            PERMITS.forEach((limit, permits) -> {
                assertThat(test.limit(limit).available()).isEqualTo(permits);
                assertThat(test.limit(limit).waiting()).isZero();
            });
            assertThat(test.engine.isIdle()).isTrue();
            System.out.printf(
                    "%s submitted: %s succeeded, %s failed, %s cancelled, %s rejected%n",
                    submitted, succeeded, failed, cancelled, rejected);
        }
    }

    private long call(TestEngine test, SplittableRandom random) {
        long begin = System.nanoTime();
        long calls = 0;
        Queue<CompletableFuture<?>> open = new ArrayDeque<>();
        List<String> limits = PERMITS.keySet().stream().sorted().toList();
        while (System.nanoTime() - begin < RUN) {
            String limit = limits.get(random.nextInt(limits.size()));
            int outcome = random.nextInt(6);
            CompletableFuture<?> future = test.submit(limit, body(limit, outcome));
            future.whenComplete((value, failure) -> count(failure));
            open.add(future);
            calls++;
            if (random.nextInt(4) == 0) {
                future.cancel(random.nextBoolean());
            }
            if (open.size() > 50) {
                CompletableFuture<?> oldest = open.remove();
                if (random.nextBoolean()) {
                    oldest.cancel(true);
                }
                oldest.handle((value, failure) -> failure).join();
            }
        }
        return calls;
    }

    private TaskBody body(String limit, int outcome) {
        return () -> {
            AtomicInteger count = running.get(limit);
            if (count.incrementAndGet() > PERMITS.get(limit)) {
                tooMany.incrementAndGet();
            }
            try {
                return end(outcome);
            } finally {
                count.decrementAndGet();
            }
        };
    }

    private static @Nullable Object end(int outcome) throws Exception {
        switch (outcome) {
            case 0 -> throw new IOException("stress");
            case 1 -> throw new AssertionError("stress");
            case 2 -> Thread.currentThread().interrupt();
            case 3 ->
                new CompletableFuture<>()
                        .completeOnTimeout("late", 50, TimeUnit.MICROSECONDS)
                        .get();
            default -> Thread.yield();
        }
        return CompletableFuture.completedFuture(outcome);
    }

    private void count(@Nullable Throwable failure) {
        if (failure == null) {
            succeeded.incrementAndGet();
        } else if (failure instanceof LimitExceededException) {
            rejected.incrementAndGet();
        } else if (failure instanceof CancellationException) {
            cancelled.incrementAndGet();
        } else {
            failed.incrementAndGet();
        }
    }
}
