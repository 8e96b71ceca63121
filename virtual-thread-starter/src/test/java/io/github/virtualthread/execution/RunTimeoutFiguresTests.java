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
@Timeout(300)
class RunTimeoutFiguresTests {

    private static final int NUMBER = 100_000;

    /** In bytes: 126 by the fields of the objects, 150 are allowed, and the heap is not measured to the byte. */
    private static final long MOST = 170;

    private static final Duration LONG = Duration.ofHours(1);

    private record Figures(long bytesPerCall, int platformThreads, int timerEntries, int timerThreads) {

        Figures orFewerBytes(Figures other) {
            return bytesPerCall <= other.bytesPerCall ? this : other;
        }
    }

    @Test
    void aTimeoutOfARunningCallCostsNoThreadAndFewBytes() throws Exception {
        // loads and compiles: frames of code that is not compiled are larger
        measure(null, NUMBER / 5);
        measure(LONG, NUMBER / 5);
        Figures without = measure(null, NUMBER);
        Figures with = measure(LONG, NUMBER);
        for (int again = 0; again < 3 && with.bytesPerCall() - without.bytesPerCall() > MOST; again++) {
            without = without.orFewerBytes(measure(null, NUMBER));
            with = with.orFewerBytes(measure(LONG, NUMBER));
        }

        System.out.printf("%d running calls: without timeout %s, with %s%n", NUMBER, without, with);
        assertThat(with.timerEntries()).isEqualTo(NUMBER);
        assertThat(with.timerThreads()).isEqualTo(1);
        assertThat(with.platformThreads() - without.platformThreads()).isLessThanOrEqualTo(4);
        assertThat(with.bytesPerCall() - without.bytesPerCall()).isLessThanOrEqualTo(MOST);
    }

    private static Figures measure(@Nullable Duration timeout, int number) throws Exception {
        CountDownLatch running = new CountDownLatch(number);
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<?>> futures = new ArrayList<>(number);
        try (TestEngine test = new TestEngine()) {
            TaskSpec spec = test.engine.spec("Test.figures", null, timeout);
            TaskBody body = () -> {
                running.countDown();
                release.await();
                return null;
            };
            long before = usedHeap();
            for (int i = 0; i < number; i++) {
                futures.add(test.engine.submit(spec, body));
            }
            await(running);
            Figures figures = new Figures(
                    (usedHeap() - before) / number,
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
        for (int i = 0; i < 3; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
