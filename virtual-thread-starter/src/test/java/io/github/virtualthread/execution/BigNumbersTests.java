package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@Tag("jdk")
class BigNumbersTests {

    /** Only so many bodies can finish before the caller has made all its calls. */
    private static final int LET_THROUGH = 900;

    @Test
    void aHundredThousandCallsDoNotBlockTheirCallerAndAllEndRight() {
        int number = 100_000;
        Semaphore gate = new Semaphore(LET_THROUGH);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger finished = new AtomicInteger();
        try (TestEngine test = new TestEngine(LimitSettings.of("db", 100))) {
            List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>(number);
            for (int i = 0; i < number; i++) {
                int mine = i;
                futures.add(test.submit("db", () -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    gate.acquire();
                    running.decrementAndGet();
                    finished.incrementAndGet();
                    return mine;
                }));
            }
            assertThat(finished.get()).isLessThan(1_000);
            assertThat(test.limit("db").waiting()).isGreaterThanOrEqualTo(number - 1_000);

            Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> running.get() == 100);
            gate.release(number);

            for (int i = 0; i < number; i++) {
                assertThat(futures.get(i).join()).isEqualTo(i);
            }
            assertThat(most).hasValue(100);
            assertThat(test.limit("db").available()).isEqualTo(100);
        }
    }
}
