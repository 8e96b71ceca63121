package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How long calls wait beside the flood of another key, and what a key holds of the heap. */
@Timeout(300)
@Tag("benchmark")
class KeyFiguresTests {

    private static final int KEYS = 100_000;
    private static final int FLOOD = 5_000;
    private static final int OTHERS = 200;
    private static final long RUN = TimeUnit.MILLISECONDS.toNanos(20);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("partner", 20), LimitSettings.of("capped", 20).withPermitsPerKey(5));

    private final CountDownLatch gate = test.latch();

    @Test
    void theFloodOfOneKeyHoldsUpNobodyElse() throws Exception {
        List<Long> oneQueue = waits("partner", false);
        List<Long> turns = waits("partner", true);
        List<Long> cap = waits("capped", true);

        System.out.printf(
                "%d calls of one key, %d of ten others at 100 a second, ms of waiting, median/99th percentile:"
                        + " one queue %.0f/%.0f, turns %.1f/%.1f, a cap of 5 %.1f/%.1f%n",
                FLOOD,
                OTHERS,
                at(oneQueue, 0.5),
                at(oneQueue, 0.99),
                at(turns, 0.5),
                at(turns, 0.99),
                at(cap, 0.5),
                at(cap, 0.99));
        // two runs of a call are 40 ms; what a busy machine adds, it adds to both
        assertThat(at(turns, 0.99)).isLessThan(at(oneQueue, 0.5) / 20);
        assertThat(at(cap, 0.99)).isLessThan(at(oneQueue, 0.5) / 20);
    }

    /** How long the calls of the others have waited, in nanoseconds, in ascending order. */
    private List<Long> waits(String limit, boolean keys) throws Exception {
        TaskSpec spec = test.engine.spec("Shop.price", limit);
        TaskBody body = () -> {
            LockSupport.parkNanos(RUN);
            return null;
        };
        List<CompletableFuture<@Nullable Object>> flood = new ArrayList<>();
        for (int i = 0; i < FLOOD; i++) {
            flood.add(test.engine.submit(keys ? test.engine.keyed(spec, "flood") : spec, body));
        }
        List<Long> waits = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<@Nullable Object>> others = new ArrayList<>();
        for (int i = 0; i < OTHERS; i++) {
            long asked = System.nanoTime();
            TaskBody measured = () -> {
                waits.add(System.nanoTime() - asked);
                return body.run();
            };
            others.add(test.engine.submit(keys ? test.engine.keyed(spec, "key-" + i % 10) : spec, measured));
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        for (CompletableFuture<?> each : others) {
            each.get(2, TimeUnit.MINUTES);
        }
        flood.forEach(each -> each.cancel(false));
        TestEngine.awaitIdle(test);
        return waits.stream().sorted().toList();
    }

    private static double at(List<Long> nanos, double share) {
        return nanos.get((int) (share * (nanos.size() - 1))) / 1e6;
    }

    @Test
    void aKeyHoldsFewBytes() {
        test.hold("partner", gate);
        for (int i = 0; i < 19; i++) {
            test.hold("partner", gate);
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            names.add("key-" + i);
        }
        long oneKey = bytesPerCall(names.subList(0, 1));
        long aKeyEach = bytesPerCall(names);

        System.out.printf("bytes of heap per key: %d; per waiting call with a key %d%n", aKeyEach - oneKey, oneKey);
        assertThat(aKeyEach - oneKey).isLessThanOrEqualTo(115);
        assertThat(test.limit("partner").keys()).isZero();
    }

    private long bytesPerCall(List<String> keys) {
        TaskSpec spec = test.engine.spec("Shop.price", "partner");
        TaskBody body = () -> null;
        List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>(KEYS);
        long before = WaitingFiguresTests.heap();
        for (int i = 0; i < KEYS; i++) {
            futures.add(test.engine.submit(test.engine.keyed(spec, keys.get(i % keys.size())), body));
        }
        long after = WaitingFiguresTests.heap();
        futures.forEach(future -> future.cancel(false));
        return (after - before) / KEYS;
    }
}
