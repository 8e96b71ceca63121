package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** A program of its own, for {@link BigNumbersTests}: its heap is bounded. */
final class MillionCalls {

    private static final int NUMBER = 1_000_000;

    private MillionCalls() {}

    public static void main(String[] arguments) {
        MDC.put("user", "alice");
        MDC.put("request", "7");
        MDC.put("trace", "0123456789abcdef");
        CountDownLatch release = new CountDownLatch(1);
        try (TestEngine test = new TestEngine(LimitSettings.of("db", 10))) {
            TaskSpec spec = test.engine.spec("Shop.price", "db");
            List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>(NUMBER);
            for (int i = 0; i < NUMBER; i++) {
                int mine = i;
                futures.add(test.engine.submit(spec, () -> {
                    release.await();
                    return mine;
                }));
            }
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            System.out.printf(
                    "%d waiting, %d MB used%n",
                    test.limit("db").waiting(), (runtime.totalMemory() - runtime.freeMemory()) >> 20);

            release.countDown();
            int ended = 0;
            for (int i = 0; i < NUMBER; i++) {
                ended += ((Integer) futures.get(i).join()) == i ? 1 : 0;
            }
            System.out.printf("%d ended%n", ended);
        }
    }
}
