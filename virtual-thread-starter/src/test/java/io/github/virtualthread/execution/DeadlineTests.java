package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertOverdue;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.assertThrowsRefusal;
import static io.github.virtualthread.execution.Late.awaitNoneInTimer;
import static io.github.virtualthread.execution.Late.failureOf;
import static io.github.virtualthread.execution.Late.inTimer;
import static io.github.virtualthread.execution.Late.overdue;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A deadline bounds wait and run of a task together. */
@Timeout(300)
@Tag("jdk")
class DeadlineTests {

    private static final Duration SHORT = Duration.ofMillis(50);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("patient", 1).withMaxWait(LONG),
            LimitSettings.of("impatient", 1).withMaxWait(SHORT),
            LimitSettings.of("hopeless", 1).withRejectHopeless(true),
            LimitSettings.of("inside", 1).withWithin("hopeless"));

    private final CountDownLatch release = test.latch();
    private final AtomicBoolean ran = new AtomicBoolean();

    @AfterEach
    void allPermitsAreBack() {
        release.countDown();
        TestEngine.awaitIdle(test);
        test.assertAllPermitsAreBack();
    }

    private CompletableFuture<?> submit(String limit, Duration deadline, TaskBody body) {
        return test.engine.submit(Late.spec(test, limit, deadline), body);
    }

    private Object runs() {
        ran.set(true);
        return "ran";
    }

    private Object blocks() throws InterruptedException {
        test.latch().await();
        return "ran";
    }

    @Test
    void aCallWhoseDeadlinePassesWhileItWaitsLeavesTheQueueFromTheMiddle() throws Exception {
        test.hold("db", release);
        CompletableFuture<?> before = test.submit("db", () -> "before");
        CompletableFuture<?> late = submit("db", SOON, this::runs);
        CompletableFuture<?> after = test.submit("db", () -> "after");

        assertRefused(late);

        assertThat(test.limit("db").waiting()).isEqualTo(2);
        release.countDown();
        assertThat(valueOf(before)).isEqualTo("before");
        assertThat(valueOf(after)).isEqualTo("after");
        assertThat(ran).isFalse();
    }

    @Test
    void aCallWaitsForHalfOfItsTimeIfHopelessCallsAreRejected() throws Exception {
        test.hold("hopeless", release);
        long begin = System.nanoTime();

        assertThat(failureOf(submit("hopeless", SOON, this::runs)))
                .hasMessage(
                        "Test.late was rejected (HOPELESS): limit hopeless (1 permit, unbounded queue, unbounded wait,"
                                + " hopeless calls rejected) has 0 permits free and 0 calls waiting; its turn does not come while it may wait,"
                                + " which is for half of what is left before its deadline of 0.1s: give it or its caller more time, raise its"
                                + " permits if the resource can take more, or send fewer calls");

        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SOON.toNanos() / 2);
        assertThat(test.limit("hopeless").waiting()).isZero();
        assertThat(ran).isFalse();
    }

    @Test
    void aCallOfALimitInsideAnotherWaitsForHalfOfItsTimeToo() throws Exception {
        test.hold("hopeless", release);

        assertThat(failureOf(submit("inside", SOON, this::runs))).hasMessageContaining("(HOPELESS)");
    }

    @Test
    void halfOfTheTimeIsThatOfWhatIsLeft() throws Exception {
        Deadline.call(LONG, () -> {
            Deadline whole = Objects.requireNonNull(Deadline.current());
            long before = whole.left();
            Deadline half = whole.half();
            assertThat(half.left()).isLessThanOrEqualTo(before / 2).isGreaterThanOrEqualTo(whole.left() - before / 2);
            return null;
        });
    }

    /** The timer comes twice. */
    @Test
    void aBodyStillEndsAtItsDeadlineIfHopelessCallsAreRejected() throws Exception {
        assertOverdue(
                deadline -> submit("hopeless", deadline, this::blocks),
                "Test.late ran past its deadline of %s under limit 'hopeless' and was interrupted");
        awaitNoneInTimer(test);
    }

    @Test
    void aTaskThatHasEndedIsNotWatchedAgain() throws Exception {
        DeadlineContext context = (DeadlineContext) Deadline.call(
                LONG, () -> DeadlineContext.capture(test.engine.parts().propagation(), null, true));
        context.watch(test.timer, DeadlineTests::neverDue, context.deadline.left());
        assertThat(TimerEntries.count(test.timer, DeadlineTests.class)).isOne();

        context.forget();
        context.watch(test.timer, DeadlineTests::neverDue, context.deadline.left());

        assertThat(TimerEntries.count(test.timer, DeadlineTests.class)).isZero();
    }

    private static void neverDue() {
        throw new AssertionError("due");
    }

    @Test
    void aRefusalSaysWhatToDo() throws Exception {
        test.hold("db", release);

        assertThat(failureOf(submit("db", SOON, this::runs)))
                .hasMessage(
                        "Test.late was rejected (DEADLINE): limit db (1 permit, unbounded queue, unbounded wait) has 0"
                                + " permits free and 0 calls waiting; its deadline of 0.1s passed before it began: give it or its caller more"
                                + " time, raise its permits if the resource can take more, or send fewer calls");
    }

    @Test
    void aCallThatIsMadeAfterTheDeadlineIsRefusedAtOnce() throws Exception {
        TaskSpec free = test.engine.spec("Test.call", null);
        TaskSpec db = test.engine.spec("Test.call", "db");

        overdue(() -> {
            for (CompletableFuture<?> late :
                    new CompletableFuture<?>[] {test.submit("db", this::runs), test.submit(null, this::runs)}) {
                assertThat(late).isDone();
                assertRefused(late);
            }
            assertRefused(Late.on(Thread.ofVirtual(), () -> overdue(() -> Late.callOf(test, db, this::runs))));
            assertThrowsRefusal(() -> Late.callOf(test, db, this::runs));
            assertThatExceptionOfType(LimitExceededException.class)
                    .isThrownBy(() -> test.engine.call(free, this::runs))
                    .withMessage(
                            "Test.call was rejected (DEADLINE): its deadline of 0.001s passed before it began: give it"
                                    + " or its caller more time");
            return null;
        });
        assertThat(ran).isFalse();
        assertThat(inTimer(test)).isZero();
    }

    @Test
    void aBodyThatRunsIsInterruptedAndItsPermitComesBackWhenItEnds() throws Exception {
        assertOverdue(
                deadline -> submit("db", deadline, () -> {
                    TestEngine.awaitStubbornly(release);
                    return runs();
                }),
                "Test.late ran past its deadline of %s under limit 'db' and was interrupted");

        assertThat(test.limit("db").available()).isZero();
        assertThat(test.engine.isIdle()).isFalse();
        assertThat(ran).isFalse();
    }

    @Test
    void aReturnedFutureIsCancelledWhenTheTimeIsOver() throws Exception {
        CompletableFuture<Object> inner = new CompletableFuture<>();

        assertThat(Late.overrun(deadline -> submit("db", deadline, () -> inner)).failure())
                .isInstanceOf(TimeoutException.class);

        assertThat(failureOf(inner)).isNotNull();
        assertThat(inner).isCancelled();
    }

    @Test
    void timeToWaitIsNoTimeToRun() throws Exception {
        Duration most = Duration.ofMillis(500);
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch held = test.latch();
        test.hold("db", held);
        CompletableFuture<Duration> left = new CompletableFuture<>();
        CompletableFuture<?> late = submit("db", most, () -> {
            left.complete(Deadline.remaining().orElseThrow());
            runs.countDown();
            return blocks();
        });
        long begin = System.nanoTime(); // its time has begun before
        while (System.nanoTime() - begin < SHORT.toNanos()) {
            Thread.onSpinWait();
        }

        held.countDown();

        Throwable failure = failureOf(late);
        if (runs.getCount() == 0) { // else this machine took all of it to start a thread
            assertThat(failure).isInstanceOf(TimeoutException.class);
            assertThat(left.join()).isLessThan(most.minus(SHORT));
        } else {
            assertThat(ran).isFalse();
        }
    }

    @Test
    void theEarlierOfDeadlineAndMaxWaitCounts() throws Exception {
        test.hold("patient", release);
        test.hold("impatient", release);

        assertRefused(submit("patient", SOON, this::runs));
        assertThat(failureOf(submit("impatient", LONG, this::runs)))
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.WAIT_TIMEOUT));
    }

    @Test
    void theEarlierOfDeadlineAndTimeoutCounts() throws Exception {
        assertOverdue(
                deadline -> test.engine.submit(test.engine.spec("Test.late", "db", LONG, deadline), this::blocks),
                "Test.late ran past its deadline of %s under limit 'db' and was interrupted");
        assertThat(failureOf(test.engine.submit(test.engine.spec("Test.late", "db", SHORT, LONG), this::blocks)))
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("longer than its timeout of 0.05s");
    }

    @Test
    void whatEndsBeforeItsDeadlineLeavesNothingInTheTimer() throws Exception {
        assertThat(valueOf(submit("db", LONG, () -> "value"))).isEqualTo("value");
        awaitNoneInTimer(test);

        assertThat(failureOf(submit("db", LONG, () -> {
                    throw new StackOverflowError();
                })))
                .isInstanceOf(StackOverflowError.class);
        awaitNoneInTimer(test);

        CountDownLatch runs = new CountDownLatch(1);
        CompletableFuture<?> running = submit("db", LONG, () -> {
            runs.countDown();
            return blocks();
        });
        TestEngine.await(runs);
        CompletableFuture<?> waiting = submit("db", LONG, this::runs);
        CompletableFuture<?> completed = submit("db", LONG, this::runs);
        assertThat(inTimer(test)).isEqualTo(3);
        waiting.cancel(true);
        assertThat(inTimer(test)).isEqualTo(2);
        assertThat(completed.complete(null)).isTrue();
        assertThat(inTimer(test)).isOne();
        running.cancel(true);
        awaitNoneInTimer(test);
        assertThat(ran).isFalse();
    }

    @Test
    void whatIsRefusedLeavesNothingInTheTimer() throws Exception {
        test.hold("full", release);
        assertThat(failureOf(submit("full", LONG, this::runs))).hasMessageContaining("QUEUE_FULL");
        assertThat(inTimer(test)).isZero();

        overdue(() -> submit("db", LONG, this::runs));
        assertThat(inTimer(test)).isZero();

        ThreadFactory none = body -> {
            throw new OutOfMemoryError("no thread");
        };
        TaskSpec noThread = new EngineSpec(
                "Test.late",
                test.limit("db"),
                null,
                LONG,
                new TaskThreads.Named(none, "vt-Test.late-"),
                test.engine.parts());
        assertThat(failureOf(test.engine.submit(noThread, this::runs))).isInstanceOf(OutOfMemoryError.class);
        release.countDown();
        awaitNoneInTimer(test);
    }

    @Test
    void aDeadlineThatPassedLeavesNothingInTheTimer() throws Exception {
        test.hold("db", release);
        assertRefused(submit("db", SOON, this::runs));
        release.countDown();
        awaitNoneInTimer(test);
    }

    @Test
    void aDeadlineOfCenturiesDoesNotOverflow() throws Exception {
        Duration centuries = Duration.ofSeconds(Long.MAX_VALUE);

        assertThat(valueOf(submit(
                        "db",
                        centuries,
                        () -> Deadline.call(centuries, () -> test.submit(null, () -> "value")
                                .join()))))
                .isEqualTo("value");
        awaitNoneInTimer(test);
    }

    @Test
    void aDeadlineHasToBeLongerThanZero() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Late.spec(test, "db", Duration.ZERO))
                .withMessage("Test.late: deadline must be longer than zero, was 0s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Late.spec(test, "db", Duration.ofMillis(-5)))
                .withMessage("Test.late: deadline must be longer than zero, was -0.005s");
    }
}
