package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("jdk")
class LiveTasksTests {

    private static final int CARRIERS = Runtime.getRuntime().availableProcessors();
    private static final int ROUNDS = 20;

    private final LiveTasks live = new LiveTasks();

    /** Tasks end on virtual threads; then some keep all carriers, while others are in the middle of their end. */
    @Test
    void whoWaitsForTheEndDoesNotWaitForVirtualThreadsThatGetNoCarrier() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            AtomicBoolean busy = new AtomicBoolean();
            AtomicBoolean over = new AtomicBoolean();
            CountDownLatch keepingCarriers = new CountDownLatch(CARRIERS);
            Runnable keepCarrier = () -> {
                keepingCarriers.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
            };
            List<Thread> tasks = start(Thread.ofVirtual(), 8 * CARRIERS, () -> {
                comeAndGo(busy);
                keepCarrier.run();
            });
            CountDownLatch wait = new CountDownLatch(4);
            List<Thread> waiting = start(Thread.ofPlatform().daemon(), 4, () -> {
                waitABit();
                wait.countDown();
                while (!busy.get()) {
                    waitABit();
                }
            });
            try {
                assertThat(wait.await(2, TimeUnit.MINUTES)).isTrue();
                busy.set(true);
                tasks.addAll(keepTheOthers(keepingCarriers, keepCarrier));
                for (Thread thread : waiting) {
                    assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
                }
            } finally {
                busy.set(true);
                over.set(true);
            }
            for (Thread thread : tasks) {
                thread.join();
            }
        }

        assertThat(live.isEmpty()).isTrue();
    }

    private static List<Thread> start(Thread.Builder builder, int number, Runnable action) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            threads.add(builder.start(action));
        }
        return threads;
    }

    /** Until all carriers are kept: on Java 21 one may stay idle though threads wait for it, and a new thread wakes it. */
    private static List<Thread> keepTheOthers(CountDownLatch keepingCarriers, Runnable keepCarrier)
            throws InterruptedException {
        List<Thread> started = new CopyOnWriteArrayList<>();
        long begin = System.nanoTime();
        while (!keepingCarriers.await(10, TimeUnit.MILLISECONDS)) {
            assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.MINUTES.toNanos(2));
            // each from a thread of its own, because those of one thread are in one queue, which is announced once
            Thread.ofPlatform()
                    .start(() -> started.add(Thread.startVirtualThread(keepCarrier)))
                    .join();
        }
        return started;
    }

    private void comeAndGo(AtomicBoolean busy) {
        while (!busy.get()) {
            for (int i = 0; i < 100; i++) {
                live.begin();
                live.end();
            }
            Thread.yield();
        }
    }

    private void waitABit() {
        try {
            boolean unused = live.await(TimeUnit.MILLISECONDS.toNanos(1));
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
