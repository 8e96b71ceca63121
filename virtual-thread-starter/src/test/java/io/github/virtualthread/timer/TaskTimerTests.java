package io.github.virtualthread.timer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
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
            assertThat(busy.await(2, TimeUnit.MINUTES)).isTrue();
            CountDownLatch ran = new CountDownLatch(1);
            Thread.ofPlatform().daemon().start(() -> timer.schedule(ran::countDown, 0));

            assertThat(ran.await(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            over.set(true);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        TimerEntries.await(timer, Duration.ZERO); // the action that ran is still to go
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

        last.get(2, TimeUnit.MINUTES);

        assertThat(order).containsExactly(10, 20, 30);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(2, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void anEarlierActionIsNotHeldUpByALaterOne() throws Exception {
        timer.schedule(() -> {}, Long.MAX_VALUE);
        timer.schedule(() -> {}, LONG);

        TimerEntries.await(timer, Duration.ZERO);

        assertThat(TimerEntries.count(timer)).isEqualTo(2);
    }

    @Test
    void anActionThatFailsEndsOnlyItself() throws Exception {
        Future<?> failing = timer.schedule(
                () -> {
                    throw new AssertionError("action");
                },
                0);

        timer.schedule(() -> {}, 0).get(2, TimeUnit.MINUTES);

        assertThat(failing.state()).isEqualTo(Future.State.FAILED);
    }

    @Test
    void aClosedTimerKeepsNothingAndRunsNothing() throws Exception {
        timer.schedule(() -> {}, LONG);
        Thread thread = timer.thread.get();

        timer.close();
        Future<?> late = timer.schedule(() -> {}, 0);

        assertThat(thread.join(Duration.ofMinutes(2))).isTrue();
        assertThat(late.isDone()).isFalse();
        assertThat(TimerEntries.count(timer)).isZero();
        assertThat(TimerEntries.threads(timer)).isZero();
    }

    /** What is cancelled may have begun before, and then both are true of it, as of a {@code FutureTask}. */
    @Test
    void noActionIsLostBetweenThoseThatScheduleAndThoseThatCancel() throws Exception {
        int callers = 4;
        int calls = 5_000;
        AtomicIntegerArray runs = new AtomicIntegerArray(callers * calls);
        Set<Integer> over = ConcurrentHashMap.newKeySet();
        CountDownLatch allOver = new CountDownLatch(callers * calls);
        IntConsumer end = action -> {
            if (over.add(action)) {
                allOver.countDown();
            }
        };
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            int first = i * calls;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int j = 0; j < calls; j++) {
                    int action = first + j;
                    Future<?> future = timer.schedule(
                            () -> {
                                runs.incrementAndGet(action);
                                end.accept(action);
                            },
                            ThreadLocalRandom.current().nextInt(100_000));
                    if (j % 3 == 0 && future.cancel(false)) {
                        end.accept(action);
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(allOver.await(2, TimeUnit.MINUTES)).isTrue();
        TimerEntries.await(timer, Duration.ZERO);
        assertThat(TimerEntries.count(timer)).isZero();
        assertThat(IntStream.range(0, runs.length()).map(runs::get)).allMatch(times -> times <= 1);
    }

    /** A shortage that lasts for three attempts costs a moment, and neither the action nor the thread. */
    @Test
    void anActionThatFindsNoMemoryIsRunAgain() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Future<?> action = timer.schedule(
                () -> {
                    if (attempts.incrementAndGet() < 4) {
                        throw new OutOfMemoryError();
                    }
                },
                0);
        Future<?> other = timer.schedule(() -> {}, 0);

        other.get(1, TimeUnit.MINUTES);
        action.get(1, TimeUnit.MINUTES);

        assertThat(attempts).hasValue(4);
    }

    /** The first thread cannot start, while another thread counts on it already. */
    @Test
    void anActionIsNotLostWhereTheThreadOfAnotherCannotStart() throws Exception {
        CountDownLatch starting = new CountDownLatch(1);
        CountDownLatch fail = new CountDownLatch(1);
        AtomicInteger made = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(1);
        try (TaskTimer unlucky = new TaskTimer(body -> {
            if (made.getAndIncrement() > 0) {
                return Thread.ofPlatform().daemon().unstarted(body);
            }
            return new Thread(body) {
                @Override
                public void start() {
                    starting.countDown();
                    TaskTimerTests.await(fail);
                    throw new OutOfMemoryError("unable to create native thread");
                }
            };
        })) {
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Thread first = Thread.ofPlatform().start(() -> {
                try {
                    unlucky.schedule(() -> {}, 0);
                } catch (OutOfMemoryError shortage) {
                    failure.complete(shortage);
                }
            });
            await(starting);
            unlucky.schedule(ran::countDown, 0);
            fail.countDown();
            first.join();

            assertThat(ran.await(2, TimeUnit.MINUTES)).isTrue();
            assertThat(failure).isDone();
        }
    }

    /** As if the JVM had taken what schedules an action off its stack before it woke the timer: all later ones are behind it. */
    @Test
    @Tag("slow")
    void anActionThatNobodyWokeTheTimerForHoldsUpNoOther() throws Exception {
        timer.schedule(() -> {}, LONG);
        CountDownLatch ran = new CountDownLatch(2);
        try (TaskTimer other =
                new TaskTimer(body -> Thread.ofPlatform().daemon().unstarted(() -> {}))) {
            timer.entries.add((TaskTimer.Entry) other.schedule(ran::countDown, TimeUnit.SECONDS.toNanos(2)));
            timer.schedule(ran::countDown, TimeUnit.SECONDS.toNanos(3));

            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
