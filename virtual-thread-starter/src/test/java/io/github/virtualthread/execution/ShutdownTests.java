package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class ShutdownTests {

    private static final Duration SHORT = Duration.ofMillis(20);

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    /** At once. */
    private static void assertRejected(CompletableFuture<?> future) {
        assertThat(future).isCompletedExceptionally();
        TestEngine.assertRejected(future.exceptionNow(), Reason.SHUTDOWN);
    }

    @Test
    void runningAndWaitingCallsMayFinish() throws Exception {
        CompletableFuture<?> running = test.hold("db", release);
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            waiting.add(test.submit("db", () -> "waited"));
        }
        Thread stopping = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);

        release.countDown();
        stopping.join();

        assertThat(running).isCompletedWithValueMatching("held"::equals);
        assertThat(waiting).allMatch(future -> "waited".equals(future.getNow(null)));
    }

    @Test
    void afterThePeriodTheRunningAreInterruptedAndTheWaitingRejected() {
        CompletableFuture<?> running = test.hold("db", release);
        CompletableFuture<?> waiting = test.submit("db", () -> "ran");

        test.engine.stop(SHORT);

        assertThat(running.isCancelled()).isTrue();
        assertRejected(waiting);
        assertThat(test.limit("db").available()).isEqualTo(1);
        assertThat(test.limit("db").waiting()).isZero();
    }

    @Test
    void aLogThatFailsKeepsNobodyFromClosingForGood() {
        CompletableFuture<?> running = test.hold("db", release);

        try (BrokenLog broken = new BrokenLog(TaskEngine.class)) {
            test.engine.close();
        }
        test.engine.start();

        assertThat(running.isCancelled()).isTrue();
        assertRejected(test.submit(null, () -> "ran"));
    }

    @Test
    void whoSwallowsTheInterruptAndReturnsIsCancelledAllTheSame() {
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<?> running = test.submit("db", () -> {
            started.countDown();
            try {
                release.await();
            } catch (InterruptedException swallowed) {
                return "half a result";
            }
            return "result";
        });
        await(started);

        test.engine.stop(SHORT);

        assertThat(running.handle((value, failure) -> failure).join())
                .isInstanceOf(CancellationException.class)
                .hasMessage("Test.task was interrupted: the application stopped before it ended");
    }

    @Test
    void aStopWhileThePermitGoesOnDoesNotUndoWhatTheBodyHasReturned() {
        Task ended = new Task(
                test.engine.spec("Test.task", "db"),
                () -> {
                    release.await();
                    return "result";
                },
                null);
        test.engine.submit(ended);
        CompletableFuture<?> next = test.submit(
                "db",
                body -> {
                    ended.stop();
                    return Thread.ofVirtual().unstarted(body);
                },
                () -> "next");

        release.countDown();

        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(ended.future()).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("result");
    }

    @Tag("slow")
    @Test
    void everyFutureIsCompleteThoughBodiesIgnoreInterrupts() {
        List<CompletableFuture<?>> stubborn = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            stubborn.add(stubborn(null));
        }
        stubborn.add(stubborn("db"));
        CompletableFuture<?> waiting = test.submit("db", () -> "ran");

        test.engine.stop(SHORT);

        assertThat(stubborn).allMatch(CompletableFuture::isCancelled);
        assertRejected(waiting);
        assertThat(test.limit("db").available()).as("the body still runs").isZero();
        release.countDown();
        test.engine.start();
        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void everyFutureIsCompleteThoughManyExpireMeanwhile() {
        try (TestEngine impatient = new TestEngine(LimitSettings.of("db", 1).withMaxWait(Duration.ofMillis(1)))) {
            for (int round = 0; round < 20; round++) {
                CompletableFuture<?> held = impatient.hold("db", release);
                List<CompletableFuture<?>> waiting = new ArrayList<>();
                for (int i = 0; i < 2_000; i++) {
                    waiting.add(impatient.submit("db", () -> "ran"));
                }
                held.cancel(true);

                impatient.engine.stop(ENOUGH);

                assertThat(waiting).allMatch(CompletableFuture::isDone);
                impatient.engine.start();
            }
        }
    }

    private CompletableFuture<?> stubborn(String limit) {
        CompletableFuture<?> future = test.holdStubbornly(limit, release);
        return future;
    }

    @Tag("slow")
    @Test
    void continuationsThatBlockHoldUpTheStopForSecondsAtMost() {
        List<CompletableFuture<?>> futures = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            CompletableFuture<?> future = stubborn(null);
            future.whenComplete((value, failure) -> awaitStubbornly(release));
            futures.add(future);
        }
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<?> ended = test.hold(null, end);
        ended.whenComplete((value, failure) -> awaitStubbornly(release));
        futures.add(ended);
        end.countDown();
        long begin = System.nanoTime();

        test.engine.stop(SHORT);

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMinutes(1));
        assertThat(futures).allMatch(CompletableFuture::isDone);
    }

    @Test
    void anInterruptOfAStopIsNotSwallowed() {
        test.hold("db", release);
        Thread.currentThread().interrupt();

        test.engine.stop(ENOUGH);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptedStopDoesNotRunContinuationsItself() throws Exception {
        CompletableFuture<?> future = stubborn(null);
        CompletableFuture<Thread> continued = future.handle((value, failure) -> {
            Thread current = Thread.currentThread();
            awaitStubbornly(release);
            return current;
        });
        Thread stopping = Thread.ofPlatform().start(() -> {
            Thread.currentThread().interrupt();
            test.engine.stop(ENOUGH);
        });

        assertThat(stopping.join(Duration.ofMinutes(2))).isTrue();
        assertThat(future).isCancelled();
        release.countDown();
        assertThat(continued.get(2, TimeUnit.MINUTES)).isNotSameAs(stopping);
    }
}
