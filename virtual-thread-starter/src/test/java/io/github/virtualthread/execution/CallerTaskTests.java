package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that run on the thread of their caller. */
@Timeout(300)
@Tag("jdk")
class CallerTaskTests {

    private static final Duration PLATFORM_WAIT = Duration.ofMillis(100);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            TestEngine.ENOUGH,
            PLATFORM_WAIT,
            LimitSettings.of("db", 1),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("impatient", 1).withMaxWait(Duration.ofMillis(20)),
            LimitSettings.of("patient", 1).withMaxWait(Duration.ofHours(1)));

    private final CountDownLatch release = test.latch();

    private Object call(String limit, TaskBody body) throws Throwable {
        return test.engine.call(test.engine.spec("Shop.price", limit), body);
    }

    private void assertRefused(CompletableFuture<?> outcome, String limit, Reason reason) {
        assertThat(outcome).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outcome.exceptionNow()).isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
            assertThat(refusal.reason()).isEqualTo(reason);
            assertThat(refusal.limit()).isEqualTo(limit);
        });
        assertThat(test.limit(limit).waiting()).isZero();
    }

    /** Longer than a platform thread at a limit without a maximum wait. */
    private void assertWaitsLonger(Caller caller) throws Exception {
        TimerEntries.await(test.timer, PLATFORM_WAIT.multipliedBy(3));
        assertThat(caller.outcome).isNotDone();
        release.countDown();
        assertThat(caller.outcome).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void theBodyRunsOnTheThreadOfItsCallerWhileItHoldsAPermit() throws Throwable {
        assertThat(call("db", () -> {
                    assertThat(test.limit("db").available()).isZero();
                    return Thread.currentThread();
                }))
                .isSameAs(Thread.currentThread());
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aBodyThatParksIsNotWokenByItsOwnPermit() throws Throwable {
        Thread caller = Thread.currentThread();
        CompletableFuture<Void> parked = new CompletableFuture<>();
        LockSupport.parkNanos(1); // takes an unpark that somebody else has left behind
        call("db", () -> {
            Thread.ofPlatform().start(() -> {
                TestEngine.awaitParked(caller);
                parked.complete(null);
                LockSupport.unpark(caller);
            });
            LockSupport.park();
            return assertThat(parked).isDone();
        });
    }

    @Test
    void withoutALimitTheBodyJustRuns() throws Throwable {
        assertThat(test.engine.call(test.engine.spec("Shop.price", null), Thread::currentThread))
                .isSameAs(Thread.currentThread());
    }

    @Test
    void thePermitIsBackAfterAnyFailure() {
        for (Throwable failure : List.of(new IOException("body"), new StackOverflowError(), new Error("of the body"))) {
            assertThatThrownBy(() -> call("db", () -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(test.limit("db").available()).isEqualTo(1);
        }
    }

    @Test
    void callersAndTasksWaitInOneQueue() {
        test.hold("patient", release);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<?>> outcomes = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            int mine = i;
            TaskBody body = () -> order.add(mine);
            outcomes.add(
                    switch (i % 3) {
                        case 0 -> test.submit("patient", body);
                        case 1 -> Caller.virtual(test, "patient", body).outcome;
                        default -> Caller.platform(test, "patient", body).outcome;
                    });
            Caller.awaitWaiting(test, "patient", i + 1);
        }

        release.countDown();

        assertThat(outcomes).allSatisfy(each -> assertThat(each).succeedsWithin(2, TimeUnit.MINUTES));
        assertThat(order).isSorted().hasSize(60);
        assertThat(test.limit("patient").available()).isEqualTo(1);
    }

    @Test
    void aFullQueueRefusesTheCallerAtOnce() {
        test.hold("full", release);

        assertThatExceptionOfType(LimitExceededException.class)
                .isThrownBy(() -> call("full", () -> "ran"))
                .satisfies(refusal -> assertThat(refusal.reason()).isEqualTo(Reason.QUEUE_FULL))
                .satisfies(refusal -> assertThat(refusal.task()).isEqualTo("Shop.price"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLongWaitRefusesTheCaller(boolean virtual) {
        CompletableFuture<?> held = test.hold("impatient", release);
        TaskBody body = () -> "ran";

        Caller caller = virtual ? Caller.virtual(test, "impatient", body) : Caller.platform(test, "impatient", body);

        assertRefused(caller.outcome, "impatient", Reason.WAIT_TIMEOUT);
        release.countDown();
        assertThat(held).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.limit("impatient").available()).isEqualTo(1);
    }

    @Test
    void aPlatformThreadDoesNotWaitForEverWhereTheLimitWouldLetIt() {
        test.hold("db", release);

        CompletableFuture<?> outcome = Caller.platform(test, "db", () -> "ran").outcome;

        assertRefused(outcome, "db", Reason.WAIT_TIMEOUT);
        assertThat(outcome.exceptionNow())
                .hasRootCauseMessage(
                        "A platform thread waits at most 100 ms for a permit if the limit has no max-wait");
    }

    @Test
    void aVirtualThreadWaitsLongerThanAPlatformThread() throws Exception {
        test.hold("db", release);
        assertWaitsLonger(Caller.virtual(test, "db", () -> "ran").waiting(test, "db", 1));
    }

    @Test
    void aPlatformThreadWaitsAsLongAsItsLimitSays() throws Exception {
        test.hold("patient", release);
        assertWaitsLonger(Caller.platform(test, "patient", () -> "ran").waiting(test, "patient", 1));
    }

    @Test
    void aPlatformThreadLeavesWhenItsLimitBoundsTheWaitNoMore() {
        test.hold("patient", release);
        Caller caller = Caller.platform(test, "patient", () -> "ran").waiting(test, "patient", 1);

        test.limit("patient").setMaxWait(null);

        assertRefused(caller.outcome, "patient", Reason.WAIT_TIMEOUT);
    }

    @Test
    void aWaitingVirtualThreadNeedsNoPlaceInATimer() {
        test.hold("db", release);
        Caller caller = Caller.virtual(test, "db", () -> "ran");
        Caller.awaitWaiting(test, "db", 1);

        TestEngine.awaitParked(caller.thread); // TIMED_WAITING would be a place in the timer of the scheduler

        assertThat(TimerEntries.count(test.timer)).isZero();
    }
}
