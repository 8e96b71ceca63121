package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bodies that never let go of their carriers: no other virtual thread runs until they end. */
@Timeout(300)
class RunTimeoutCarrierTests {

    private static final long AT_LAST = TimeUnit.SECONDS.toNanos(5);

    @Test
    void aTimeoutReachesBodiesThatKeepEveryCarrierBusy() {
        try (TestEngine test = new TestEngine()) {
            TaskSpec spec = test.engine.spec("Shop.compute", null, Duration.ofMillis(100));
            TaskBody body = () -> {
                long begin = System.nanoTime();
                while (!Thread.currentThread().isInterrupted() && System.nanoTime() - begin < AT_LAST) {
                    Thread.onSpinWait();
                }
                return "value";
            };
            long begin = System.nanoTime();
            List<CompletableFuture<?>> futures = Stream.<CompletableFuture<?>>generate(
                            () -> test.engine.submit(spec, body))
                    .limit(Runtime.getRuntime().availableProcessors())
                    .toList();

            assertThat(futures).allSatisfy(future -> {
                assertThat(future).failsWithin(2, TimeUnit.MINUTES);
                assertThat(future.exceptionNow()).isInstanceOf(TimeoutException.class);
            });
            assertThat(System.nanoTime() - begin).isLessThan(AT_LAST);
        }
    }
}
