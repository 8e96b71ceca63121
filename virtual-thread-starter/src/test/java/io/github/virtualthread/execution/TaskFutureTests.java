package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(300)
@Tag("jdk")
class TaskFutureTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    @Test
    void oneFutureServesAllThreeTypes() throws Exception {
        CompletableFuture<?> future = test.submit(null, () -> "value");
        Future<?> plain = future;
        CompletionStage<?> stage = future;

        assertThat(plain.get(2, TimeUnit.MINUTES)).isEqualTo("value");
        assertThat(stage.toCompletableFuture()).isCompletedWithValueMatching("value"::equals);
        assertThat(future.join()).isEqualTo("value");
    }

    @Test
    void aBodyMayReturnNull() {
        assertThat(test.submit(null, () -> null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isNull();
    }

    @Test
    void theExceptionOfTheBodyIsTheCauseItself() {
        for (Throwable thrown : new Throwable[] {
            new IOException("checked"),
            new IllegalStateException("unchecked"),
            new AssertionError("error"),
            new Throwable()
        }) {
            CompletableFuture<?> future = test.submit("db", () -> {
                throw thrown;
            });

            assertThatThrownBy(() -> future.get(2, TimeUnit.MINUTES))
                    .isInstanceOf(ExecutionException.class)
                    .satisfies(failure -> assertThat(failure.getCause()).isSameAs(thrown));
            assertThat(future.exceptionNow()).isSameAs(thrown);
            assertThat(test.limit("db").available()).isEqualTo(1);
        }
    }

    /** As with {@code CompletableFuture.supplyAsync} and {@code @Async}: nobody has cancelled the call. */
    @Test
    void aBodyThatThrowsACancellationExceptionHasFailed() {
        CancellationException thrown = new CancellationException("somebody else's");

        CompletableFuture<?> future = test.submit("db", () -> {
            throw thrown;
        });

        assertThatThrownBy(() -> future.get(2, TimeUnit.MINUTES))
                .isInstanceOf(ExecutionException.class)
                .satisfies(failure -> assertThat(failure.getCause()).isSameAs(thrown));
        assertThatThrownBy(future::join)
                .isInstanceOf(CompletionException.class)
                .satisfies(failure -> assertThat(failure.getCause()).isSameAs(thrown));
        assertThat(future.isCancelled()).isFalse();
        assertThat(future.state()).isEqualTo(Future.State.FAILED);
        assertThat(future.exceptionNow()).isSameAs(thrown);
    }

    @Test
    void cancelTrueInterruptsTheRunningBody() {
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> future = running(interrupted);

        assertThat(future.cancel(true)).isTrue();

        await(interrupted);
        assertThat(future).isCancelled();
        assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
        assertThat(future.handle((value, failure) -> failure.getMessage()))
                .isCompletedWithValue("Test.task was cancelled under limit 'db'");
    }

    /** Between the interrupt and the completion of the future, which are the two steps of a cancel. */
    @Test
    void aBodyThatEndsInTheMiddleOfACancelChangesNothing() {
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> future = running(interrupted);
        Task task = (Task) test.engine.liveCalls().running().getFirst().call();

        assertThat(task.interrupt(Cause.CANCELLED)).isTrue();
        TestEngine.awaitIdle(test); // the body has completed the future

        assertThat(future.cancel(true)).isTrue();
        assertThat(future.handle((value, failure) -> failure.getMessage()))
                .isCompletedWithValue("Test.task was cancelled under limit 'db'");
    }

    @Test
    void cancelFalseLetsTheRunningBodyFinish() {
        AtomicBoolean finished = new AtomicBoolean();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        CompletableFuture<?> future = test.submit("db", () -> {
            running.countDown();
            try {
                release.await();
                finished.set(!Thread.interrupted());
            } finally {
                ended.countDown();
            }
            return null;
        });
        await(running);

        assertThat(future.cancel(false)).isTrue();
        assertThat(test.limit("db").available()).isZero();
        release.countDown();

        await(ended);
        TestEngine.awaitIdle(test); // now the body's own outcome has come too
        assertThat(finished).isTrue();
        assertThat(future).isCancelled();
    }

    @Test
    void cancelTrueAfterCancelFalseStillInterrupts() {
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> future = running(interrupted);

        future.cancel(false);
        future.cancel(true);

        await(interrupted);
    }

    private CompletableFuture<?> running(CountDownLatch interrupted) {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<?> future = test.submit("db", () -> {
            running.countDown();
            try {
                release.await();
            } catch (InterruptedException cancelled) {
                interrupted.countDown();
            }
            return null;
        });
        await(running);
        return future;
    }

    @Test
    void dependentsDoNotCancelTheTask() {
        CompletableFuture<@Nullable Object> future = test.hold("db", release);

        assertThat(future.copy().cancel(true)).isTrue();
        assertThat(future.thenApply(value -> value).cancel(true)).isTrue();
        assertThat(future).isNotDone();
        release.countDown();

        assertThat(future.thenApply(value -> value + "!"))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo("held!");
        assertThat(future.copy())
                .isNotSameAs(future)
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo("held");
    }
}
