package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.failureOf;
import static io.github.virtualthread.execution.Late.valueOf;
import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static io.github.virtualthread.execution.TestEngine.assertThrowsRejection;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The calls of one web request end when nobody waits for it. */
@Timeout(300)
@Tag("jdk")
class CallScopeTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("ten", 10),
            LimitSettings.of("hopeless", 1).withRejectHopeless(true));

    private final CallScope scope = new CallScope();
    private final VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> {});
    private final CountDownLatch gate = test.latch();

    @AfterEach
    void nothingIsLeft() {
        gate.countDown();
        TestEngine.awaitIdle(test);
        test.assertAllPermitsAreBack();
        await().atMost(TestEngine.ENOUGH).until(scope::isEmpty); // the last thing of a task
        assertThat(Deadline.remaining()).isEmpty();
    }

    private <T extends @Nullable Object> T inScope(Callable<T> task) throws Exception {
        return Calls.callBy(scope.deadline(null), task);
    }

    /** Runs until the gate opens, or until it is interrupted. */
    private CompletableFuture<@Nullable Object> running(String limit) throws Exception {
        return inScope(() -> test.hold(limit, gate));
    }

    @Test
    void aCallThatWaitsIsRejected() throws Exception {
        test.hold("db", gate);
        CompletableFuture<?> waiting = inScope(() -> test.submit("db", () -> "ran"));

        scope.clientGone();

        assertRejected(waiting, Reason.CLIENT_GONE);
        assertThat(failureOf(waiting))
                .hasMessage("Test.task was rejected (CLIENT_GONE): the client of its web request has gone");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aThreadThatWaitsIsRejected(boolean virtual) throws Exception {
        test.hold("db", gate);
        Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
        CompletableFuture<?> call = Late.on(builder, () -> inScope(() -> threads.call("db", () -> "ran")));
        awaitWaiting(1);

        scope.clientGone();

        assertRejected(call, Reason.CLIENT_GONE);
    }

    private void awaitWaiting(int calls) {
        while (test.limit("db").waiting() < calls) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aBodyThatRunsIsInterrupted() throws Exception {
        CompletableFuture<?> running = running("db");

        scope.clientGone();

        assertThat(failureOf(running))
                .isInstanceOf(CallCancelledException.class)
                .hasMessage("Test.task was cancelled under limit 'db': the client of its web request has gone")
                .satisfies(failure ->
                        assertThat(failure.getSuppressed()).singleElement().isInstanceOf(InterruptedException.class));
    }

    @Test
    void itsPermitIsBackWhenTheBodyHasEnded() throws Exception {
        CountDownLatch cleanedUp = test.latch();
        CountDownLatch interrupted = test.latch();
        CompletableFuture<?> running = inScope(() -> {
            CountDownLatch began = test.latch();
            CompletableFuture<?> call = test.submit("db", () -> {
                began.countDown();
                try {
                    gate.await();
                } catch (InterruptedException stopped) {
                    interrupted.countDown();
                }
                cleanedUp.await();
                return "ran to its end";
            });
            TestEngine.await(began);
            return call;
        });

        scope.clientGone();

        TestEngine.await(interrupted);
        assertThat(test.limit("db").available()).isZero();
        assertThat(running).isNotDone();
        cleanedUp.countDown();
        assertThat(failureOf(running)).isInstanceOf(CallCancelledException.class);
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").available()).isOne();
    }

    @Test
    void aCallMadeAfterwardsIsRejectedEvenIfAPermitIsFree() throws Exception {
        TaskSpec none = test.engine.spec("Test.none", null);
        inScope(() -> {
            scope.clientGone();
            assertRejected(test.submit("db", () -> "ran"), Reason.CLIENT_GONE);
            assertRejected(test.submit(null, () -> "ran"), Reason.CLIENT_GONE);
            assertThrowsRejection(Reason.CLIENT_GONE, () -> threads.call("db", () -> "ran"));
            assertThrowsRejection(Reason.CLIENT_GONE, () -> test.engine.call(none, () -> "ran"));
            assertThrowsRejection(Reason.CLIENT_GONE, () -> test.engine.acquire(test.engine.spec("web", "db")));
            assertThrowsRejection(
                    Reason.CLIENT_GONE, () -> threads.all("ten", List.<Callable<Object>>of(() -> "ran", () -> "ran")));
            assertThat(Deadline.remaining()).hasValue(Duration.ZERO);
            return null;
        });
    }

    @Test
    void whatRunsOnTheThreadOfItsCallerGoesOnAndMayCallNothing() throws Exception {
        Object value = inScope(() -> threads.call("db", () -> {
            scope.clientGone();
            assertThrowsRejection(Reason.CLIENT_GONE, () -> threads.call("db", () -> "re-entry"));
            assertThrowsRejection(Reason.CLIENT_GONE, () -> threads.call("ten", () -> "another limit"));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return "its own end";
        }));

        assertThat(value).isEqualTo("its own end");
    }

    @Test
    void callsThatNobodyWaitsForGoOn() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch ended = new CountDownLatch(3);
        inScope(() -> {
            threads.execute("ten", () -> {
                begun.countDown();
                TestEngine.await(gate);
                ended.countDown();
            });
            threads.executor("ten").execute(() -> {
                begun.countDown();
                TestEngine.await(gate);
                ended.countDown();
            });
            TestEngine.await(begun);
            scope.clientGone();
            threads.execute("ten", ended::countDown);
            return null;
        });

        gate.countDown();
        TestEngine.await(ended);
    }

    @Test
    void cleaningUpWithoutTheDeadlineGoesOn() throws Exception {
        Object value = inScope(() -> {
            scope.clientGone();
            return Deadline.callWithout(() -> threads.call("db", () -> "cleaned up"));
        });

        assertThat(value).isEqualTo("cleaned up");
    }

    @Test
    void callsOfCallsEndToo() throws Exception {
        CountDownLatch begun = test.latch();
        CompletableFuture<CompletableFuture<?>> inner = new CompletableFuture<>();
        CompletableFuture<?> outer = inScope(() -> test.submit("db", () -> {
            inner.complete(test.hold("ten", gate));
            begun.countDown();
            gate.await();
            return "ran";
        }));
        TestEngine.await(begun);

        scope.clientGone();

        assertThat(failureOf(outer)).isInstanceOf(CallCancelledException.class);
        assertThat(failureOf(inner.join())).isInstanceOf(CallCancelledException.class);
    }

    @Test
    void aCallWithAnEarlierDeadlineOfItsOwnEndsToo() throws Exception {
        test.hold("db", gate);
        TaskSpec own = Late.spec(test, "db", LONG);
        CompletableFuture<?> waiting = inScope(() -> test.engine.submit(own, () -> "ran"));
        CompletableFuture<?> within =
                Calls.callBy(scope.deadline(LONG.multipliedBy(2)), () -> test.engine.submit(own, () -> "ran"));

        scope.clientGone();

        assertRejected(waiting, Reason.CLIENT_GONE);
        assertRejected(within, Reason.CLIENT_GONE);
        // a call forgets its entry in the timer when its future is complete
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> Late.inTimer(test) == 0);
    }

    /** Or a permit that comes back from the first would go to a call of the second, which would begin in vain. */
    @Test
    void ofSeveralClientsThatHaveGoneAllAreKnownBeforeTheFirstCallEnds() {
        CallScope other = new CallScope();
        List<Boolean> known = new ArrayList<>();
        scope.add(this, call -> known.add(other.isClientGone()));
        other.add(this, call -> known.add(scope.isClientGone()));

        CallScope.clientsGone(List.of(scope, other));

        assertThat(known).containsExactly(true, true);
        scope.remove(this);
    }

    @Test
    void aDeadlineWithinTheScopePassesAsAnyOther() throws Exception {
        Late.assertOverdue(
                deadline -> {
                    try {
                        return Calls.callBy(
                                scope.deadline(deadline),
                                () -> test.submit("db", () -> {
                                    gate.await();
                                    return "ran";
                                }));
                    } catch (Exception unexpected) {
                        throw new AssertionError(unexpected);
                    }
                },
                "Test.task ran past its caller's deadline of %s under limit 'db' and was interrupted");
    }

    @Test
    void theEarlierOfTwoDeadlinesCounts() throws Exception {
        assertThat(inScope(Deadline::remaining)).isEmpty();
        assertThat(inScope(() -> Deadline.atMost(LONG))).isEqualTo(LONG);
        assertThat(inScope(() -> Deadline.call(LONG, Deadline::remaining)).orElseThrow())
                .isLessThanOrEqualTo(LONG);
        assertThat(Deadline.call(LONG, () -> Calls.callBy(scope.deadline(LONG.multipliedBy(2)), Deadline::remaining))
                        .orElseThrow())
                .isLessThanOrEqualTo(LONG);
        assertThat(Deadline.call(LONG.multipliedBy(2), () -> Calls.callBy(scope.deadline(LONG), Deadline::remaining))
                        .orElseThrow())
                .isLessThanOrEqualTo(LONG);
    }

    @Test
    void aScopeAloneMakesNoCallHopeless() throws Exception {
        test.hold("hopeless", gate);
        CompletableFuture<?> waiting = inScope(() -> test.submit("hopeless", () -> "ran"));
        assertThat(Late.inTimer(test)).isZero();

        gate.countDown();

        assertThat(valueOf(waiting)).isEqualTo("ran");
    }

    @Test
    void theReasonIsTheClientAlsoWhereHopelessCallsAreRejected() throws Exception {
        test.hold("hopeless", gate);
        CompletableFuture<?> waiting = Calls.callBy(scope.deadline(LONG), () -> test.submit("hopeless", () -> "ran"));
        CompletableFuture<?> thread = Late.on(
                Thread.ofVirtual(),
                () -> Calls.callBy(scope.deadline(LONG), () -> threads.call("hopeless", () -> "ran")));
        while (test.limit("hopeless").waiting() < 2) {
            Thread.onSpinWait();
        }

        scope.clientGone();

        assertRejected(waiting, Reason.CLIENT_GONE);
        assertRejected(thread, Reason.CLIENT_GONE);
    }

    @Test
    void aContinuationBelongsToTheScope() throws Exception {
        CompletableFuture<?> fallback = running("db").handle((value, failure) -> {
            assertThrowsRejection(Reason.CLIENT_GONE, () -> threads.call("ten", () -> "ran"));
            return "fallback";
        });

        scope.clientGone();

        assertThat(valueOf(fallback)).isEqualTo("fallback");
    }

    @Test
    void theTimeOfTheServerIsADeadline() throws Exception {
        CompletableFuture<?> running = running("db");
        CompletableFuture<?> waiting = inScope(() -> test.submit("db", () -> "ran"));

        scope.timedOut(Duration.ofSeconds(30));
        scope.clientGone();

        assertThat(scope.isClientGone()).isFalse();
        assertRejected(waiting, Reason.DEADLINE);
        assertThat(failureOf(running))
                .isInstanceOfSatisfying(CallTimeoutException.class, timeout -> assertThat(timeout.kind())
                        .isEqualTo(Kind.DEADLINE))
                .hasMessage("Test.task ran past its caller's deadline of 30s under limit 'db' and was interrupted");
    }

    @Test
    void aScopeForgetsCallsThatHaveEnded() throws Exception {
        assertThat(valueOf(inScope(() -> test.submit("db", () -> "ran")))).isEqualTo("ran");
        assertThat(inScope(() -> threads.call("db", () -> "ran"))).isEqualTo("ran");
        test.hold("db", gate);
        CompletableFuture<?> waiting = inScope(() -> test.submit("db", () -> "ran"));
        assertThat(scope.isEmpty()).isFalse();
        waiting.cancel(false);
        await().atMost(TestEngine.ENOUGH).until(scope::isEmpty);
    }

    @Test
    void aScopeThatNeverEndsEndsNoCall() throws Exception {
        CompletableFuture<?> running = running("db");

        gate.countDown();

        assertThat(valueOf(running)).isEqualTo("held");
        assertThat(scope.isClientGone()).isFalse();
    }
}
