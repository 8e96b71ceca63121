package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the caller's stack costs. To keep a stack takes more memory the deeper it is: that tells whether it was kept. */
@Timeout(300)
@Tag("benchmark")
class CallerTraceFiguresTests {

    private static final int NUMBER = 5_000;
    private static final int DEEP = 60; // frames of a request under Spring MVC and Tomcat, or more
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void switchedOffNoCallKeepsAStack() {
        try (TestEngine off = new TestEngine(LimitSettings.of("db", 1));
                TestEngine on = TestEngine.tracingCallers(LimitSettings.of("db", 1))) {
            for (TestEngine test : List.of(off, on)) {
                test.hold("db", test.latch());
                bytesPerCall(test, 0);
                bytesPerCall(test, DEEP);
            }

            long shallow = bytesPerCall(off, 0);
            long deep = bytesPerCall(off, DEEP);
            long kept = bytesPerCall(on, DEEP);

            System.out.printf(
                    "bytes per call: off %d, off and %d frames deeper %d, on %d with %d frames%n",
                    shallow, DEEP, deep, kept, framesAt(DEEP));
            // what the compiler saves differs by some objects; a stack of so many frames is far more
            long stack = DEEP * Long.BYTES;
            assertThat(deep).isCloseTo(shallow, within(stack));
            assertThat(kept).isGreaterThan(deep + stack);
        }
    }

    /** No figure is asserted: the machine may do something else. */
    @Test
    void theTimeOfACallIsPrinted() {
        try (TestEngine off = new TestEngine();
                TestEngine on = TestEngine.tracingCallers()) {
            long best = Long.MAX_VALUE;
            long bestTraced = Long.MAX_VALUE;
            for (int round = 0; round < 20; round++) {
                best = Math.min(best, nanosPerCall(off));
                bestTraced = Math.min(bestTraced, nanosPerCall(on));
            }
            System.out.printf(
                    "ns per call, %d frames deep: off %d, on %d, ratio %.2f%n",
                    framesAt(DEEP), best, bestTraced, (double) bestTraced / best);
        }
    }

    /** Of the caller, for calls that wait. */
    private static long bytesPerCall(TestEngine test, int frames) {
        TaskSpec spec = test.engine.spec("Test.figures", "db");
        List<CompletableFuture<?>> futures = new ArrayList<>(NUMBER);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < NUMBER; i++) {
            futures.add(deeper(frames, test, spec));
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        futures.forEach(future -> future.cancel(true));
        return bytes / NUMBER;
    }

    private static long nanosPerCall(TestEngine test) {
        TaskSpec spec = test.engine.spec("Test.figures", null);
        CompletableFuture<?>[] futures = new CompletableFuture<?>[NUMBER];
        long begin = System.nanoTime();
        for (int i = 0; i < NUMBER; i++) {
            futures[i] = deeper(DEEP, test, spec);
        }
        CompletableFuture.allOf(futures).join();
        return (System.nanoTime() - begin) / NUMBER;
    }

    private static CompletableFuture<?> deeper(int frames, TestEngine test, TaskSpec spec) {
        return frames == 0 ? test.engine.submit(spec, () -> null) : deeper(frames - 1, test, spec);
    }

    private static int framesAt(int depth) {
        return depth == 0 ? new Throwable().getStackTrace().length : framesAt(depth - 1);
    }
}
