package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static io.github.virtualthread.execution.TestEngine.NO_TIME;
import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

@Timeout(300)
@Tag("jdk")
class VirtualThreadsTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1), LimitSettings.of("full", 1).withQueueCapacity(0));

    private final CompletableFuture<Map.Entry<String, Throwable>> uncaught = new CompletableFuture<>();
    private final VirtualThreads threads =
            new VirtualThreads(test.engine, (task, failure) -> uncaught.complete(Map.entry(task, failure)));
    private final CountDownLatch release = test.latch();

    @Test
    void aTaskRunsOnAVirtualThreadWithTheMdcOfItsCallerAndTheNameOfItsClass() throws Exception {
        MDC.put("requestId", "r-1");

        Thread thread = threads.submit(Thread::currentThread).get(2, TimeUnit.MINUTES);

        assertThat(thread.isVirtual()).isTrue();
        assertThat(thread.getName()).isEqualTo("vt-VirtualThreadsTests.lambda-1");
        assertThat(threads.submit("db", () -> MDC.get("requestId")))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo("r-1");
    }

    @Test
    void theExceptionOfATaskIsInTheFutureAsItIs() {
        IOException failure = new IOException("down");
        CompletableFuture<String> future = threads.submit("db", () -> {
            throw failure;
        });

        assertThat(future).failsWithin(2, TimeUnit.MINUTES);
        assertThat(future.exceptionNow()).isSameAs(failure);
    }

    @Test
    void aRefusalIsInTheFuture() {
        test.hold("full", release);

        assertRejected(threads.submit("full", () -> "ran"), Reason.QUEUE_FULL);
    }

    @Test
    void cancelInterruptsATask() {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<String> future = threads.submit("db", () -> {
            running.countDown();
            try {
                release.await();
                interrupted.complete(false);
            } catch (InterruptedException expected) {
                interrupted.complete(true);
            }
            return "ran";
        });
        TestEngine.await(running);

        future.cancel(true);

        assertThat(interrupted).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(true);
    }

    @Test
    void aFutureThatATaskReturnsIsItsValue() {
        CompletableFuture<String> inner = new CompletableFuture<>();
        FutureTask<String> never = new FutureTask<>(() -> "");

        assertThat(threads.submit("db", () -> inner))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isSameAs(inner);
        assertThat(threads.submit("db", () -> never))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isSameAs(never);
    }

    @Test
    void whatATaskThrowsThatNobodyWaitsForIsReportedUnderItsName() {
        IllegalStateException failure = new IllegalStateException("broken");

        threads.execute(() -> {
            throw failure;
        });

        assertThat(uncaught)
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(Map.entry("VirtualThreadsTests.lambda", failure));
    }

    @Test
    void theRefusalOfATaskThatNobodyWaitsForIsReportedToo() {
        test.hold("full", release);

        threads.execute("full", () -> {});

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).satisfies(report -> assertThat(report.getValue())
                .isInstanceOf(LimitExceededException.class));
    }

    @Test
    void aCallRunsOnItsCallersThreadAfterThoseThatWaitAlready() throws Exception {
        test.hold("db", release);
        CompletableFuture<Thread> ranOn = new CompletableFuture<>();
        Thread caller = Thread.startVirtualThread(() -> {
            try {
                ranOn.complete(threads.call("db", Thread::currentThread));
            } catch (Exception failure) {
                ranOn.completeExceptionally(failure);
            }
        });
        Awaitility.await().atMost(ENOUGH).until(() -> test.limit("db").waiting() == 1);

        release.countDown();

        assertThat(ranOn).succeedsWithin(2, TimeUnit.MINUTES).isSameAs(caller);
    }

    @Test
    void aCallThrowsWhatItsTaskThrows() {
        IOException failure = new IOException("down");
        assertThatThrownBy(() -> threads.call("db", () -> {
                    throw failure;
                }))
                .isSameAs(failure);

        StackOverflowError error = new StackOverflowError();
        assertThatThrownBy(() -> threads.call("db", () -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallThatIsRefusedThrows() {
        test.hold("full", release);

        assertThatThrownBy(() -> threads.call("full", () -> "ran")).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void anUnknownLimitIsThrownWithTheKnownNames() {
        String message = "No limit 'dp' is configured; the configured limits are [db, full]";

        assertThatThrownBy(() -> threads.submit("dp", () -> "")).hasMessage(message);
        assertThatThrownBy(() -> threads.execute("dp", () -> {})).hasMessage(message);
        assertThatThrownBy(() -> threads.call("dp", () -> "")).hasMessage(message);
        assertThatThrownBy(() -> threads.executor("dp"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void itIsIdleOnceNothingRunsOrWaits() throws Exception {
        assertThat(threads.awaitIdle(NO_TIME)).isTrue();
        test.hold("db", release);
        threads.execute("db", () -> {
            throw new IllegalStateException("the last");
        });

        assertThat(threads.awaitIdle(NO_TIME)).isFalse();
        release.countDown();
        assertThat(threads.awaitIdle(ENOUGH)).isTrue();
        assertThat(uncaught).isDone();
    }

    @Test
    void whoWaitsForItToBeIdleCanBeInterrupted() {
        test.hold("db", release);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> threads.awaitIdle(ENOUGH)).isInstanceOf(InterruptedException.class);
    }
}
