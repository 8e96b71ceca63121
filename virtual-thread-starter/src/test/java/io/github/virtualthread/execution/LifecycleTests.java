package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static io.github.virtualthread.execution.TestEngine.NO_TIME;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which calls are accepted when. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
@Tag("jdk")
class LifecycleTests {

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
    void stoppingAgainDoesNotReopenWhatWasClosed() {
        test.engine.close();
        test.engine.stop(NO_TIME);
        test.engine.start();

        assertRejected(test.submit(null, () -> "ran"));
    }

    @Test
    void closeIsFinalThoughAStopIsUnderWay() throws Exception {
        test.hold("db", release);
        Thread stopping = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);

        test.engine.close();
        stopping.join();
        test.engine.start();

        assertRejected(test.submit(null, () -> "ran"));
    }

    @Test
    void aStopThatAnotherOneHasOvertakenLeavesCallsAloneThatCameAfterARestart() throws Exception {
        test.holdStubbornly(null, release);
        Thread first = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);
        test.engine.stop(NO_TIME);
        test.engine.start();
        CompletableFuture<?> afterwards = test.hold("db", test.latch());

        first.interrupt(); // ends its period
        first.join();

        assertThat(afterwards).isNotDone();
        assertThat(test.submit(null, () -> "ran")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aStopInItsGraceLeavesCallsAloneThatCameAfterARestart() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> before = test.submit(null, () -> {
            running.countDown();
            try {
                release.await();
            } catch (InterruptedException stopped) {
                interrupted.countDown();
            }
            awaitStubbornly(release);
            return null;
        });
        await(running);
        Thread stopping = test.stopping(NO_TIME);
        await(interrupted);

        test.engine.start();
        CompletableFuture<?> afterwards = test.hold("db", test.latch());
        stopping.join();

        assertThat(before).isCancelled();
        assertThat(afterwards).isNotDone();
    }

    @Test
    void stopStartCall() {
        test.engine.stop(NO_TIME);
        test.engine.start();

        assertThat(test.submit("db", () -> "again")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void newCallsAreRejected() {
        test.engine.stop(NO_TIME);

        assertRejected(test.submit("db", () -> "ran"));
        assertRejected(test.submit(null, () -> "ran"));
    }

    @Test
    void newCallsFromOutsideAreRejectedWhileItDrains() throws Exception {
        test.hold("db", release);
        Thread stopping = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);

        assertRejected(test.submit("db", () -> "ran"));
        release.countDown();
        stopping.join();
    }

    @Test
    void aTaskOfAnotherEngineCallsFromOutside() throws Exception {
        test.hold("db", release);
        Thread stopping = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);

        try (TestEngine other = new TestEngine()) {
            VirtualThreads threads = new VirtualThreads(other.engine, (task, failure) -> {});
            assertRejected(threads.submit(() -> test.submit(null, () -> "ran")).join());
        }
        release.countDown();
        stopping.join();
    }

    @Test
    void callsOfARunningTaskAreAcceptedUntilThePeriodEnds() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<?> composite = test.submit("db", () -> {
            started.countDown();
            await(release);
            return test.submit(null, () -> "part").thenApply(part -> part + " of it");
        });
        CompletableFuture<?> continued =
                composite.thenApply(value -> test.submit("db", () -> "more").join());
        await(started);
        Thread stopping = test.stopping(ENOUGH);
        TestEngine.awaitDraining(test);

        release.countDown();
        stopping.join();

        assertThat(composite).isCompletedWithValueMatching("part of it"::equals);
        assertThat(continued).isCompletedWithValueMatching("more"::equals);
    }

    @Test
    void callsOfATaskThatIgnoresItsInterruptAreRejectedAfterThePeriod() {
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<CompletableFuture<?>> call = new CompletableFuture<>();
        test.submit(null, () -> {
            started.countDown();
            awaitStubbornly(release);
            call.complete(test.submit("db", () -> "part"));
            return null;
        });
        await(started);

        test.engine.stop(SHORT);
        release.countDown();

        assertRejected(call.join());
    }
}
