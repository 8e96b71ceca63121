package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that are interrupted, in person. */
@Timeout(300)
@Tag("jdk")
class CallerInterruptTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    private Caller caller(boolean virtual, TaskBody body) {
        return virtual ? Caller.virtual(test, "db", body) : Caller.platform(test, "db", body);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallerThatIsInterruptedWhileItWaitsLeavesTheQueue(boolean virtual) {
        test.hold("db", release);
        Caller first = caller(virtual, () -> "ran").waiting(test, "db", 1);
        Caller second = caller(virtual, () -> "ran").waiting(test, "db", 2);

        first.thread.interrupt();

        assertThat(first.outcome).failsWithin(2, TimeUnit.MINUTES);
        assertThat(first.outcome.exceptionNow())
                .isInstanceOf(InterruptedException.class)
                .hasMessage("Test.call was interrupted while it waited for a permit of limit 'db'");
        assertThat(test.limit("db").waiting()).isEqualTo(1);
        release.countDown();
        assertThat(second.outcome).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallerWhoseFlagIsSetRunsWhereAPermitIsFree() throws Throwable {
        Thread.currentThread().interrupt();

        Object flag = test.engine.call(test.engine.spec("Test.call", "db"), () -> Thread.currentThread()
                .isInterrupted());

        assertThat(Thread.interrupted()).isTrue();
        assertThat(flag).isEqualTo(true);
    }

    @Test
    void aCallerWhoseFlagIsSetDoesNotWait() {
        test.hold("db", release);
        CompletableFuture<Boolean> flagAfterwards = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            Thread.currentThread().interrupt();
            try {
                test.engine.call(test.engine.spec("Test.call", "db"), () -> "ran");
                flagAfterwards.completeExceptionally(new AssertionError("ran"));
            } catch (InterruptedException expected) {
                flagAfterwards.complete(Thread.currentThread().isInterrupted());
            } catch (Throwable other) {
                flagAfterwards.completeExceptionally(other);
            }
        });

        assertThat(flagAfterwards).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
        assertThat(test.limit("db").waiting()).isZero();
    }

    @Test
    void aTaskThatIsCancelledWhileItWaitsAsACallerLeavesBothQueues() {
        test.hold("db", release);
        CompletableFuture<?> outer =
                test.submit(null, () -> test.engine.call(test.engine.spec("Test.call", "db"), () -> "ran"));
        Caller.awaitWaiting(test, "db", 1);

        outer.cancel(true);

        Caller.awaitWaiting(test, "db", 0);
        release.countDown();
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    /** The holder gives its permit back at the moment in which the waiter is interrupted. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInterruptThatRacesWithTheGrantLosesNoPermit(boolean virtual) {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        int number = 1_000;
        for (int i = 0; i < number; i++) {
            CountDownLatch end = new CountDownLatch(1);
            CompletableFuture<?> held = test.hold("db", end);
            Caller caller = caller(virtual, () -> "ran");
            Caller.awaitWaiting(test, "db", 1);

            if (i % 3 == 0) {
                caller.thread.interrupt();
                end.countDown();
            } else {
                end.countDown();
                caller.thread.interrupt();
            }

            held.join();
            boolean failed =
                    caller.outcome.handle((value, failure) -> failure != null).join();
            if (failed) {
                assertThat(caller.outcome.exceptionNow()).isInstanceOf(InterruptedException.class);
            }
            (failed ? interrupted : ran).incrementAndGet();
            assertThat(test.limit("db").available()).isEqualTo(1);
            assertThat(test.limit("db").waiting()).isZero();
        }
        System.out.printf("virtual=%s: %s ran, %s interrupted%n", virtual, ran, interrupted);
        assertThat(ran.get() + interrupted.get()).isEqualTo(number);
        assertThat(ran.get()).isPositive();
        assertThat(interrupted.get()).isPositive();
    }
}
