package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The turns of keys while bodies keep every carrier busy, and half of the granted calls wait for one. */
@Timeout(300)
class BusyKeysTests {

    private static final int PERMITS = 2 * Runtime.getRuntime().availableProcessors();
    private static final int CALLS_OF_KEY = 50 * PERMITS;
    private static final int STARTS = 40 * PERMITS; // while both keys have calls

    @RegisterExtension
    private final TestEngine test =
            new TestEngine(LimitSettings.of("db", PERMITS).withKeyWeights(Map.of("gold", 3.0, "silver", 1.0)));

    @Test
    void sharesAreAsTheWeightsSay() throws Exception {
        CountDownLatch gate = test.latch();
        for (int i = 0; i < PERMITS; i++) {
            test.hold("db", gate);
        }
        Queue<String> starts = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < CALLS_OF_KEY; i++) {
            calls.add(busy("silver", starts));
            calls.add(busy("gold", starts));
        }

        gate.countDown();
        CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new)).get(ENOUGH.toSeconds(), TimeUnit.SECONDS);

        // what is granted has yet to find a carrier: the order is that of the turns, give or take the permits
        long gold = starts.stream().limit(STARTS).filter("gold"::equals).count();
        assertThat(gold).isBetween(STARTS * 3L / 4 - PERMITS, STARTS * 3L / 4 + PERMITS);
    }

    private CompletableFuture<@Nullable Object> busy(String key, Queue<String> starts) {
        TaskSpec keyed = test.engine.keyed(test.engine.spec("Shop.price", "db"), key);
        return test.engine.submit(keyed, () -> {
            starts.add(key);
            long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(200);
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait(); // it never parks
            }
            return null;
        });
    }
}
