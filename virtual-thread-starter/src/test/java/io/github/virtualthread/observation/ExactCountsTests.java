package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A million calls that end in every way, made by eight threads: the meters agree with the callers to the unit. */
@Timeout(300)
@Tag("slow")
@Tag("jdk")
class ExactCountsTests {

    private static final int CALLERS = 8;
    private static final int ROUNDS = 1_000;
    private static final int PER_ROUND = 125;
    private static final IllegalStateException BROKEN = new IllegalStateException("body");

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final CountDownLatch never = new CountDownLatch(1);

    /** What callers saw, by their futures. */
    private final LongAdder values = new LongAdder();

    private final LongAdder failures = new LongAdder();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder cancellations = new LongAdder();
    private final LongAdder rejections = new LongAdder();

    @Test
    void theMetersAgreeWithTheCallers() throws Exception {
        try (MeteredEngine test = MeteredEngine.started(
                registry,
                LimitSettings.of("db", 16),
                LimitSettings.of("full", 1).withQueueCapacity(0),
                LimitSettings.of("queue", 1))) {
            test.hold("full");
            test.hold("queue");
            long begin = System.nanoTime();
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                callers.add(Thread.ofPlatform().start(() -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        round(test, round);
                    }
                }));
            }
            for (Thread caller : callers) {
                assertThat(caller.join(Duration.ofMinutes(2))).isTrue();
            }
            test.gate.countDown();
            test.awaitIdle();
            System.out.printf(
                    "%d calls in %d ms: %s values, %s failures, %s timeouts, %s cancellations, %s rejections%n",
                    CALLERS * ROUNDS * PER_ROUND,
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin),
                    values,
                    failures,
                    timeouts,
                    cancellations,
                    rejections);
            assertExact();
        }
    }

    /** In batches, so that the heap stays small. */
    private void round(MeteredEngine test, int round) {
        TaskSpec db = test.engine.spec("Shop.price", "db");
        TaskSpec full = test.engine.spec("Shop.price", "full");
        TaskSpec queue = test.engine.spec("Shop.price", "queue");
        TaskSpec unlimited = test.engine.spec("Shop.page", null);
        TaskSpec timed = test.engine.spec("Shop.slow", null, Duration.ofMillis(1));
        List<CompletableFuture<?>> futures = new ArrayList<>(PER_ROUND);
        for (int i = 0; i < PER_ROUND; i++) {
            TaskSpec spec = i % 10 == 0 ? full : i % 10 == 1 ? queue : i % 10 == 2 ? unlimited : db;
            boolean ends = spec != unlimited;
            if (spec == unlimited && round % 50 == 0 && i == 2) {
                spec = timed;
            }
            TaskBody body = !ends ? this::waitForInterrupt : i % 10 == 3 ? ExactCountsTests::fail : () -> "value";
            CompletableFuture<@Nullable Object> future = test.engine.submit(spec, body);
            futures.add(future.handle(this::count));
            if (spec == queue || spec == unlimited) {
                future.cancel(true); // waits, is about to start, or runs
            }
        }
        CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new)).join();
    }

    private Object waitForInterrupt() throws InterruptedException {
        never.await();
        return "never";
    }

    private static Object fail() {
        throw BROKEN;
    }

    private @Nullable Object count(@Nullable Object value, @Nullable Throwable failure) {
        switch (failure) {
            case null -> values.increment();
            case CancellationException cancelled -> cancellations.increment();
            case LimitExceededException rejected -> rejections.increment();
            case TimeoutException late -> timeouts.increment();
            default -> failures.increment();
        }
        return null;
    }

    private void assertExact() {
        long held = 2; // the two that hold a permit all the time
        long all = (long) CALLERS * ROUNDS * PER_ROUND + held;

        assertThat(sum("virtual.thread.submitted")).isEqualTo(all);
        assertThat(tasks("success")).isEqualTo(values.sum() + held).isGreaterThan(500_000);
        assertThat(tasks("error")).isEqualTo(failures.sum()).isGreaterThan(50_000);
        assertThat(tasks("timeout")).isEqualTo(timeouts.sum()).isEqualTo(CALLERS * ROUNDS / 50);
        assertThat(tasks("cancelled")).isEqualTo(cancellations.sum()).isGreaterThan(150_000);
        assertThat(sum("virtual.thread.rejected")).isEqualTo(rejections.sum()).isGreaterThan(100_000);
        assertThat(tasks("success") + tasks("error") + tasks("timeout") + tasks("cancelled") + rejections.sum())
                .isEqualTo(all);
        assertThat(registry.get("virtual.thread.tasks.active").gauges())
                .extracting(Gauge::value)
                .containsOnly(0.0);
    }

    private long sum(String counter) {
        return (long) registry.get(counter).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private long tasks(String outcome) {
        return registry.get("virtual.thread.tasks").tags("outcome", outcome).timers().stream()
                .mapToLong(Timer::count)
                .sum();
    }
}
