package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.awaitNoneInTimer;
import static io.github.virtualthread.execution.Late.failureOf;
import static io.github.virtualthread.execution.Late.inTimer;
import static io.github.virtualthread.execution.Late.on;
import static io.github.virtualthread.execution.Late.overdue;
import static io.github.virtualthread.execution.Late.valueOf;
import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.Jam;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A deadline bounds the wait of a call on its caller's own thread, and what its body calls. */
@Timeout(300)
@Tag("jdk")
class DeadlineCallerTests {

    private static final Duration SHORT = Duration.ofMillis(50);

    enum Kind {
        VIRTUAL(Thread.ofVirtual()),
        PLATFORM(Thread.ofPlatform().daemon());

        private final Thread.Builder threads;

        Kind(Thread.Builder threads) {
            this.threads = threads;
        }
    }

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("patient", 1).withMaxWait(LONG),
            LimitSettings.of("impatient", 1).withMaxWait(SHORT),
            LimitSettings.of("hopeless", 1).withRejectHopeless(true));

    private final CountDownLatch release = test.latch();

    @AfterEach
    void allPermitsAreBack() {
        release.countDown();
        TestEngine.awaitIdle(test);
        test.assertAllPermitsAreBack();
        assertThat(test.engine.liveCalls().running()).isEmpty();
    }

    private CompletableFuture<?> call(Kind kind, String limit, Duration deadline, TaskBody body) {
        return on(kind.threads, () -> test.engine.call(Late.spec(test, limit, deadline), body));
    }

    @ParameterizedTest
    @EnumSource
    void aCallerWaitsUntilItsDeadline(Kind kind) throws Exception {
        test.hold("db", release);

        assertRefused(call(kind, "db", SOON, () -> "ran"));

        assertThat(test.limit("db").waiting()).isZero();
        assertThat(inTimer(test)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void theEarlierOfDeadlineAndMaxWaitCounts(Kind kind) throws Exception {
        test.hold("patient", release);
        test.hold("impatient", release);

        assertRejected(call(kind, "patient", SOON, () -> "ran"), Reason.DEADLINE);
        assertRejected(call(kind, "impatient", LONG, () -> "ran"), Reason.WAIT_TIMEOUT);
    }

    @ParameterizedTest
    @EnumSource
    void aCallerWhoseWaitWouldTakeTooLongIsRejected(Kind kind) throws Exception {
        Duration deadline = Duration.ofMinutes(1);
        try (Jam jam = new Jam(test.limit("hopeless"), deadline)) {
            assertThat(jam).isNotNull();
            assertRejected(call(kind, "hopeless", deadline, () -> "ran"), Reason.HOPELESS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallerWaitsForHalfOfItsTimeIfHopelessCallsAreRejected(Kind kind) throws Exception {
        test.hold("hopeless", release);
        long begin = System.nanoTime();

        assertRejected(call(kind, "hopeless", SOON, () -> "ran"), Reason.HOPELESS);

        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SOON.toNanos() / 2);
        assertThat(test.limit("hopeless").waiting()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void theEarlierOfOwnAndInheritedCounts(Kind kind) throws Exception {
        test.hold("db", release);

        assertRefused(on(
                kind.threads,
                () -> Deadline.call(SOON, () -> Late.callOf(test, Late.spec(test, "db", LONG), () -> "ran"))));
        assertRefused(on(
                kind.threads,
                () -> Deadline.call(LONG, () -> Late.callOf(test, Late.spec(test, "db", SOON), () -> "ran"))));
    }

    @ParameterizedTest
    @EnumSource
    void aCallerThatGetsItsPermitInTimeRuns(Kind kind) throws Exception {
        test.hold("db", release);
        CompletableFuture<?> call =
                call(kind, "db", LONG, () -> Deadline.remaining().orElseThrow());
        waits();

        release.countDown();

        assertThat((Duration) valueOf(call)).isPositive().isLessThan(LONG);
    }

    private void waits() {
        while (test.limit("db").waiting() == 0) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptEndsTheWaitBeforeTheDeadline(Kind kind) throws Exception {
        test.hold("db", release);
        CompletableFuture<Thread> caller = new CompletableFuture<>();
        CompletableFuture<?> call = on(kind.threads, () -> {
            caller.complete(Thread.currentThread());
            return test.engine.call(Late.spec(test, "db", LONG), () -> "ran");
        });
        waits();

        caller.join().interrupt();

        assertThat(failureOf(call)).isInstanceOf(InterruptedException.class);
    }

    @ParameterizedTest
    @EnumSource
    void aStopRejectsACallerThatWaits(Kind kind) throws Exception {
        test.hold("db", release);
        CompletableFuture<?> call = call(kind, "db", LONG, () -> "ran");
        waits();

        test.engine.stop(TestEngine.NO_TIME);

        assertRejected(call, Reason.SHUTDOWN);
    }

    /** It has no timer, and its thread is not ours to interrupt. */
    @Test
    void aBodyIsNotInterruptedAndEndsAsItEnds() throws Throwable {
        TaskSpec spec = Late.spec(test, "db", Duration.ofMillis(20));
        assertThat(test.engine.call(spec, () -> {
                    Late.awaitOver();
                    assertThat(inTimer(test)).isZero();
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    return "value";
                }))
                .isEqualTo("value");
        assertThatThrownBy(() -> test.engine.call(spec, () -> {
                    Late.awaitOver();
                    throw new IOException("failed");
                }))
                .isInstanceOf(IOException.class);
        assertThat(Deadline.remaining()).isEmpty();
    }

    @Test
    void whatABodyCallsHasWhatIsLeft() throws Throwable {
        TaskSpec spec = Late.spec(test, "db", LONG);

        Object left = test.engine.call(
                spec, () -> valueOf(test.submit(null, () -> Deadline.remaining().orElseThrow())));

        assertThat((Duration) left).isPositive().isLessThan(LONG);
        awaitNoneInTimer(test);
    }

    @Test
    void aDeadlineOpensOnlyForItsTask() throws Exception {
        assertThat(Deadline.remaining()).isEmpty();
        assertThatThrownBy(() -> Deadline.call(LONG, () -> {
                    assertThat(Deadline.remaining()).isPresent();
                    Deadline.callWithout(() -> assertThat(Deadline.remaining()).isEmpty());
                    assertThat(Deadline.remaining()).isPresent();
                    throw new IOException("failed");
                }))
                .isInstanceOf(IOException.class);
        assertThat(Deadline.remaining()).isEmpty();
    }

    @Test
    void remainingIsNeverLessThanZero() throws Exception {
        assertThat(overdue(Deadline::remaining)).contains(Duration.ZERO);
    }

    @Test
    void aTimeoutForAClientIsNeverZero() throws Exception {
        Duration most = Duration.ofSeconds(5);

        assertThat(Deadline.atMost(most)).isEqualTo(most);
        assertThat(Deadline.call(LONG, () -> Deadline.atMost(most))).isEqualTo(most);
        assertThat(Deadline.call(Duration.ofSeconds(4), () -> Deadline.atMost(most)))
                .isPositive()
                .isLessThan(most);
        assertThat(overdue(() -> Deadline.atMost(most))).isEqualTo(Duration.ofMillis(1));
        assertThat(Deadline.atMost(Duration.ofNanos(1))).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void aDeadlineAndATimeoutHaveToBeLongerThanZero() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Deadline.call(Duration.ZERO, () -> "ran"))
                .withMessage("a deadline must be longer than zero, was 0s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Deadline.atMost(Duration.ofSeconds(-2)))
                .withMessage("the maximum must be longer than zero, was -2s");
    }
}
