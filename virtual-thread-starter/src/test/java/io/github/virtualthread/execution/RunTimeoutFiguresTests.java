package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TimerEntries;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a timeout costs. */
@Timeout(120)
class RunTimeoutFiguresTests {

    private static final int NUMBER = 100_000;
    private static final Duration LONG = Duration.ofHours(1);

    private record Figures(long bytesPerCall, int platformThreads, int timerEntries, int timerThreads) {

        Figures orFewerBytes(Figures other) {
            return bytesPerCall <= other.bytesPerCall ? this : other;
        }
    }

    @Test
    void aTimeoutOfARunningCallCostsNoThreadAndFewBytes() throws Exception {
        Figures without = measure(null);
        Figures with = measure(LONG);
        // the first rounds load classes, and have the larger frames of code that is not compiled yet
        for (int round = 0; round < 3; round++) {
            without = without.orFewerBytes(measure(null));
            with = with.orFewerBytes(measure(LONG));
        }

        System.out.printf("%d running calls: without timeout %s, with %s%n", NUMBER, without, with);
        assertThat(with.timerEntries()).isEqualTo(NUMBER);
        assertThat(with.timerThreads()).isEqualTo(1);
        assertThat(with.platformThreads() - without.platformThreads()).isLessThanOrEqualTo(4);
        // 126 by the fields of the objects; the heap is not measured to the byte
        assertThat(with.bytesPerCall() - without.bytesPerCall()).isLessThanOrEqualTo(170);
    }

    private static Figures measure(@Nullable Duration timeout) throws Exception {
        CountDownLatch running = new CountDownLatch(NUMBER);
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<?>> futures = new ArrayList<>(NUMBER);
        try (TestEngine test = new TestEngine()) {
            TaskSpec spec = test.engine.spec("Test.figures", null, timeout);
            TaskBody body = () -> {
                running.countDown();
                release.await();
                return null;
            };
            long before = usedHeap();
            for (int i = 0; i < NUMBER; i++) {
                futures.add(test.engine.submit(spec, body));
            }
            await(running);
            Figures figures = new Figures(
                    (usedHeap() - before) / NUMBER,
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    TimerEntries.count(test.timer),
                    TimerEntries.threads(test.timer));
            release.countDown();
            CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new))
                    .join();
            assertThat(TimerEntries.count(test.timer)).isZero();
            return figures;
        }
    }

    private static long usedHeap() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
