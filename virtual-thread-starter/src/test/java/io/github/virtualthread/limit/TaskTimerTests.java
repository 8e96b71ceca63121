package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TaskTimerTests {

    private static final long LONG = Duration.ofHours(1).toNanos();

    private final TaskTimer timer = new TaskTimer("timer");

    @AfterEach
    void close() {
        timer.close();
    }

    /** Many want the timer, and whoever is done with it keeps a carrier busy: some of the others stay where they were parked. */
    @Test
    void virtualThreadsThatGetNoCarrierHoldUpNeitherCallersNorTheTimer() throws Exception {
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < 8 * carriers; i++) {
                threads.add(Thread.ofVirtual().start(() -> {
                    for (int j = 0; j < 2_000; j++) {
                        timer.schedule(() -> {}, LONG).cancel(false);
                    }
                    busy.countDown();
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                }));
            }
            assertThat(busy.await(10, TimeUnit.SECONDS)).isTrue();
            CountDownLatch ran = new CountDownLatch(1);
            Thread.ofPlatform().daemon().start(() -> timer.schedule(ran::countDown, 0));

            assertThat(ran.await(5, TimeUnit.SECONDS)).isTrue();
        } finally {
            over.set(true);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(TimerEntries.count(timer)).isZero();
    }

    @Test
    void actionsRunInTheOrderOfTheirTimes() throws Exception {
        List<Integer> order = new ArrayList<>();
        CountDownLatch begin = new CountDownLatch(1);
        timer.schedule(() -> await(begin), 0);
        for (int millis : new int[] {30, 10, 20}) {
            timer.schedule(() -> order.add(millis), TimeUnit.MILLISECONDS.toNanos(millis));
        }
        Future<?> last = timer.schedule(() -> {}, TimeUnit.MILLISECONDS.toNanos(40));
        begin.countDown();

        last.get(10, TimeUnit.SECONDS);

        assertThat(order).containsExactly(10, 20, 30);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void anEarlierActionIsNotHeldUpByALaterOne() throws Exception {
        timer.schedule(() -> {}, Long.MAX_VALUE);
        timer.schedule(() -> {}, LONG);

        timer.schedule(() -> {}, 0).get(10, TimeUnit.SECONDS);

        assertThat(TimerEntries.count(timer)).isEqualTo(2);
    }

    @Test
    void anActionThatFailsEndsOnlyItself() throws Exception {
        Future<?> failing = timer.schedule(
                () -> {
                    throw new AssertionError("action");
                },
                0);

        timer.schedule(() -> {}, 0).get(10, TimeUnit.SECONDS);

        assertThat(failing.state()).isEqualTo(Future.State.FAILED);
    }

    @Test
    void aClosedTimerKeepsNothingAndRunsNothing() throws Exception {
        timer.schedule(() -> {}, LONG);
        Thread thread = timer.thread.get();

        timer.close();
        Future<?> late = timer.schedule(() -> {}, 0);

        assertThat(thread.join(Duration.ofSeconds(5))).isTrue();
        assertThat(late.isDone()).isFalse();
        assertThat(TimerEntries.count(timer)).isZero();
        assertThat(TimerEntries.threads(timer)).isZero();
    }

    /** A thread that is idle ends at once: it is about to end whenever something is scheduled. */
    @Test
    void noActionIsLostBetweenTheEndOfAThreadAndTheStartOfTheNext() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger cancelled = new AtomicInteger();
        int callers = 4;
        int calls = 5_000;
        CountDownLatch ended = new CountDownLatch(callers * calls);
        try (TaskTimer hurried = new TaskTimer(Thread.ofPlatform().daemon().factory(), Duration.ZERO)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int j = 0; j < calls; j++) {
                        Future<?> future = hurried.schedule(
                                () -> {
                                    ran.incrementAndGet();
                                    ended.countDown();
                                },
                                ThreadLocalRandom.current().nextInt(100_000));
                        if (j % 3 == 0 && future.cancel(false)) {
                            cancelled.incrementAndGet();
                            ended.countDown();
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }

            assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(ran.get() + cancelled.get()).isEqualTo(callers * calls);
            assertThat(TimerEntries.count(hurried)).isZero();
        }
    }
}
