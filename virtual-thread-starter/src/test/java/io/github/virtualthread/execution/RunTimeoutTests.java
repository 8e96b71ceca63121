package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(300)
@Tag("jdk")
class RunTimeoutTests {

    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    private CompletableFuture<@Nullable Object> submit(@Nullable String limit, Duration timeout, TaskBody body) {
        return test.engine.submit(test.engine.spec("Shop.price", limit, timeout), body);
    }

    private static void assertTimedOut(CompletableFuture<?> future) {
        assertThat(future).failsWithin(2, TimeUnit.MINUTES);
        assertThat(future.exceptionNow()).isInstanceOf(CallTimeoutException.class);
    }

    @Test
    void aRunThatTakesTooLongIsInterruptedAndSaysWhichMethodAndLimit() {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        CompletableFuture<?> future = submit("db", SHORT, () -> {
            try {
                release.await();
            } catch (InterruptedException interrupted) {
                thrown.complete(interrupted);
                throw interrupted;
            }
            return null;
        });

        assertTimedOut(future);
        assertThat(future.exceptionNow())
                .hasMessage("Shop.price ran longer than its timeout of 0.05s under limit 'db' and was interrupted")
                .isInstanceOf(TimeoutException.class)
                .isInstanceOfSatisfying(CallTimeoutException.class, timeout -> {
                    assertThat(timeout.task()).isEqualTo("Shop.price");
                    assertThat(timeout.limit()).isEqualTo("db");
                    assertThat(timeout.kind()).isEqualTo(Kind.TIMEOUT);
                    assertThat(timeout.bound()).isEqualTo(SHORT);
                    assertThat(timeout.getStackTrace()).isEmpty();
                });
        assertThat(thrown).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aRunWithoutALimitTimesOutToo() {
        CompletableFuture<?> future = submit(null, SHORT, () -> {
            release.await();
            return null;
        });

        assertTimedOut(future);
        assertThat(((CallTimeoutException) future.exceptionNow()).limit()).isEqualTo("none");
    }

    @Test
    void timeCountsFromTheStartOfTheBody() throws Exception {
        Duration timeout = Duration.ofMillis(500);
        test.hold("db", release);
        CompletableFuture<?> waiting = submit("db", timeout, () -> "ran");
        assertThat(TimerEntries.count(test.timer)).isZero();

        TimerEntries.await(test.timer, timeout.plus(SHORT));

        assertThat(waiting).isNotDone();
        release.countDown();
        assertThat(waiting).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }

    @Test
    void thePermitComesBackOnlyWhenTheBodyHasEnded() {
        CompletableFuture<?> future = submit("db", SHORT, () -> {
            TestEngine.awaitStubbornly(release);
            return null;
        });
        CompletableFuture<?> next = test.submit("db", () -> "next");

        assertTimedOut(future);

        assertThat(test.limit("db").available()).isZero();
        assertThat(test.limit("db").waiting()).isEqualTo(1);
        assertThat(test.engine.isIdle()).isFalse();
        release.countDown();
        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aBodyThatMakesAValueOfTheInterruptHasTimedOutNevertheless() {
        for (int i = 0; i < 50; i++) {
            assertTimedOut(submit("db", Duration.ofMillis(1), () -> {
                try {
                    release.await();
                } catch (InterruptedException swallowed) {
                    return "value";
                }
                return null;
            }));
        }
    }

    @Test
    void aBodyThatMakesAnotherExceptionOfTheInterruptHasTimedOutNevertheless() {
        for (int i = 0; i < 50; i++) {
            assertTimedOut(submit("db", Duration.ofMillis(1), () -> {
                try {
                    release.await();
                } catch (InterruptedException wrapped) {
                    throw new IOException(wrapped);
                }
                return null;
            }));
        }
    }

    @Test
    void aBodyThatEndsInTimeLeavesNothingInTheTimer() {
        assertThat(submit("db", LONG, () -> "value")).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(TimerEntries.count(test.timer)).isZero();

        assertThat(submit("db", LONG, () -> {
                    throw new StackOverflowError();
                }))
                .failsWithin(2, TimeUnit.MINUTES);
        assertThat(TimerEntries.count(test.timer)).isZero();
    }

    @Test
    void aBodyThatEndsInTimeIsNotInterruptedLater() throws Exception {
        Duration timeout = Duration.ofMillis(500);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch inContinuation = new CountDownLatch(1);
        CompletableFuture<Boolean> flag = submit("db", timeout, () -> {
                    await(go);
                    return "value";
                })
                .thenApply(value -> {
                    inContinuation.countDown();
                    await(release);
                    return Thread.currentThread().isInterrupted();
                });
        go.countDown();
        await(inContinuation);

        TimerEntries.await(test.timer, timeout.plus(SHORT));
        release.countDown();

        assertThat(flag).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
    }

    @Test
    void aBlockingContinuationDoesNotBlockTheTimer() {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch go = test.latch();
        TaskBody body = () -> {
            release.await();
            return null;
        };
        test.hold("db", go);
        CompletableFuture<?> unused = submit("db", SHORT, body).handle((value, failure) -> {
            blocked.countDown();
            await(release);
            return null;
        });
        go.countDown(); // not earlier: the continuation is to run with the timeout
        await(blocked);

        assertTimedOut(submit(null, SHORT, body));
    }

    @Test
    void aReturnedFutureIsCancelledWhenTheTimeIsOver() {
        CompletableFuture<Object> inner = new CompletableFuture<>();
        CompletableFuture<?> outer = submit("db", SHORT, () -> inner);

        assertTimedOut(outer);

        assertThat(inner).failsWithin(2, TimeUnit.MINUTES);
        assertThat(inner).isCancelled();
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aFutureCompletedByItsUserKeepsItsValueWhileTheBodyIsInterruptedInTime() {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> future = submit("db", Duration.ofMillis(500), () -> {
            running.countDown();
            try {
                release.await();
            } finally {
                interrupted.countDown();
            }
            return null;
        });

        await(running); // a body whose future is complete before it begins does not run
        future.complete("by hand");

        await(interrupted);
        TestEngine.awaitIdle(test);
        assertThat(future.join()).isEqualTo("by hand");
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aTimeoutOfCenturiesDoesNotOverflow() {
        assertThat(submit("db", Duration.ofSeconds(Long.MAX_VALUE), () -> "value"))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo("value");
    }

    @Test
    void aTimeoutHasToBeLongerThanZero() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> test.engine.spec("Shop.price", "db", Duration.ZERO))
                .withMessageContaining("Shop.price")
                .withMessageContaining("timeout must be longer than zero, was");
    }
}
