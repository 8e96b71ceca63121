package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.test.util.ReflectionTestUtils;

/** Callers that hold permits, looked at while they come and go. */
@Timeout(300)
@Tag("jdk")
class PermitHoldersTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 10));

    private final AtomicBoolean over = new AtomicBoolean();

    /** As a concurrent map may be met where a thread leaves and comes back while somebody walks through: seen once in seconds. */
    private static final class MetTwice extends ConcurrentHashMap<Thread, CallerTask> {

        @Override
        public Set<Map.Entry<Thread, CallerTask>> entrySet() {
            List<Map.Entry<Thread, CallerTask>> walk = new ArrayList<>(super.entrySet());
            walk.addAll(super.entrySet());
            return new AbstractSet<>() {

                @Override
                public Iterator<Map.Entry<Thread, CallerTask>> iterator() {
                    return walk.iterator();
                }

                @Override
                public int size() {
                    return walk.size();
                }
            };
        }
    }

    @Test
    void aThreadThatLeavesAndComesBackDuringALookIsSeenOnce() throws Exception {
        ReflectionTestUtils.setField(test.engine.parts().holders(), "callers", new MetTwice());
        CallerTask permit = CallerTask.acquire(test.engine.spec("Shop.price", "db"), null);

        assertThat(test.engine.liveCalls().running()).singleElement().satisfies(live -> assertThat(live.call())
                .isSameAs(permit));

        permit.close(null);
    }

    @Tag("slow")
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
