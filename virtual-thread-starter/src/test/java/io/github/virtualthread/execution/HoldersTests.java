package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers that hold permits, looked at while they come and go. */
@Timeout(20)
class HoldersTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 10));

    private final Holders holders = new Holders();
    private final AtomicBoolean over = new AtomicBoolean();

    /** All in one bin of a hash map. */
    private static final class Alike extends Thread {

        Alike(Runnable body) {
            super(body);
        }

        @Override
        public int hashCode() {
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    @Test
    void aThreadThatLeavesAndComesBackDuringALookIsSeenOnce() throws Exception {
        CallerPermit permit = CallerPermit.acquire(test.engine.spec("Shop.price", "db"));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread thread = new Alike(() -> {
                while (!over.get()) {
                    holders.enter(permit);
                    holders.leave(null);
                }
            });
            threads.add(thread);
            thread.start();
        }
        try {
            // as many looks as the machine gets through in a second, with whatever else it does
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (System.nanoTime() < end) {
                assertThat(threads).containsAll(holders.callers().keySet());
            }
        } finally {
            over.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            permit.close(null);
        }
    }

    @Test
    void aCallIsSeenAtEachMomentWhileItMakesOthers() throws Exception {
        TaskSpec outer = test.engine.spec("Shop.offer", "db");
        TaskSpec inner = test.engine.spec("Shop.price", "db");
        CountDownLatch running = new CountDownLatch(1);
        Thread caller = Thread.ofPlatform().daemon().start(() -> {
            try {
                test.engine.call(outer, () -> {
                    running.countDown();
                    while (!over.get()) {
                        test.engine.call(inner, () -> null);
                    }
                    return null;
                });
            } catch (Throwable unexpected) {
                throw new AssertionError(unexpected);
            }
        });
        TestEngine.await(running);
        try {
            // as many looks as the machine gets through in a second, with whatever else it does
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (System.nanoTime() < end) {
                assertThat(test.engine.liveCalls().running())
                        .extracting(live -> live.call().spec().name())
                        .contains("Shop.offer");
            }
        } finally {
            over.set(true);
            caller.join();
        }
    }
}
