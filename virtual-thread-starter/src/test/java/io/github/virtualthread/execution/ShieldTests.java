package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static io.github.virtualthread.execution.TestShield.body;
import static io.github.virtualthread.execution.TestShield.isKnown;
import static io.github.virtualthread.execution.TestShield.unshield;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.TestShield.Seen;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parts of bodies that no stop interrupts. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class ShieldTests extends ShieldedCalls {

    @ParameterizedTest
    @EnumSource
    void noStopInterrupts(Stop how) throws Exception {
        CompletableFuture<Seen> seen = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> seen.complete(shield.untilHeard(running)));
        await(running);

        stop(how, future);

        assertThat(get(seen)).isEqualTo(Seen.ONCE);
        assertFails(future);
        assertThat(shield.told).hasValue(1);
        assertAllIsOver();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void neitherDoesTheEndOfItsTime(boolean deadline) throws Exception {
        TestShield told;
        CompletableFuture<Seen> seen;
        Duration bound = Duration.ofMillis(50);
        do { // again, if this machine was too slow to be shielded in time, or to begin
            TestShield next = new TestShield();
            CompletableFuture<Seen> result = new CompletableFuture<>();
            bound = bound.multipliedBy(2);
            TaskSpec spec = test.engine.spec("Test.task", "db", deadline ? null : bound, deadline ? bound : null);
            assertFails(test.engine.submit(spec, () -> {
                self.complete(body());
                return result.complete(next.untilHeard(running));
            }));
            awaitIdle(test);
            told = next;
            seen = result;
        } while (!seen.isDone() || seen.join().entered() != Entered.RUNNING);

        assertThat(seen).isCompletedWithValue(Seen.ONCE);
        assertThat(told.told).hasValue(1);
        assertAllIsOver();
    }

    @Test
    void nobodyInterruptsATaskWhoseSiblingHasFailed() throws Exception {
        CompletableFuture<Seen> seen = new CompletableFuture<>();
        List<Callable<@Nullable Object>> tasks = List.of(() -> seen.complete(shield.untilHeard(running)), () -> {
            await(running);
            throw new IllegalStateException("broken");
        });

        assertThatThrownBy(() -> new VirtualThreads(test.engine, (task, failure) -> {}).all(tasks))
                .hasMessage("broken");

        assertThat(get(seen)).isEqualTo(Seen.ONCE);
        assertThat(shield.told).hasValue(1);
    }

    @Test
    void theShieldHearsOfTheFirstStopOnly() throws Exception {
        CompletableFuture<Boolean> owed = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            body().shield(shield);
            running.countDown();
            awaitStubbornly(go);
            owed.complete(unshield(body()) && !Thread.currentThread().isInterrupted());
            return null;
        });
        await(running);

        stop(Stop.CANCEL, future);
        stop(Stop.DELETE, future);
        stop(Stop.CANCEL, future);
        await(shield.heardTwiceMore); // who deletes does not wait where the future is complete
        assertThat(shield.told).hasValue(1);
        go.countDown();

        assertThat(get(owed)).isTrue();
        assertAllIsOver();
    }

    @Test
    void aStopAfterTheShieldInterrupts() throws Exception {
        CompletableFuture<Boolean> owed = new CompletableFuture<>();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            assertThat(body().shield(shield)).isEqualTo(Entered.RUNNING);
            owed.complete(unshield(body()));
            awaitStubbornly(go);
            return interrupted.complete(Thread.currentThread().isInterrupted());
        });
        assertThat(get(owed)).isFalse();

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(interrupted)).isTrue();
        assertThat(shield.told).hasValue(0);
        assertAllIsOver();
    }

    /** The flag is the one of the first stop; what comes later is owed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStopBeforeTheShieldIsKnownToIt(boolean again) throws Exception {
        CompletableFuture<Entered> entered = new CompletableFuture<>();
        CountDownLatch stopped = test.latch();
        CompletableFuture<List<Boolean>> seen = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            awaitStubbornly(go);
            boolean flag = Thread.currentThread().isInterrupted();
            entered.complete(body().shield(shield));
            boolean still = Thread.interrupted();
            awaitStubbornly(stopped);
            boolean later = Thread.interrupted();
            boolean owed = unshield(body());
            return seen.complete(List.of(flag, still, later, owed));
        });
        stop(Stop.CANCEL, future);
        go.countDown();
        assertThat(get(entered)).isEqualTo(Entered.STOPPED);

        if (again) {
            stop(Stop.CANCEL, future);
        }
        stopped.countDown();

        assertThat(get(seen)).containsExactly(true, true, false, again);
        assertThat(shield.told).hasValue(0);
        assertAllIsOver();
    }

    @Test
    void aPartWithinAShieldIsShieldedByIt() throws Exception {
        TestShield inner = new TestShield();
        CompletableFuture<Entered> nested = new CompletableFuture<>();
        CompletableFuture<Seen> seen = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            body().shield(shield);
            nested.complete(body().shield(inner));
            awaitStubbornly(shield.heard);
            Entered afterTheStop = body().shield(inner);
            boolean owed = unshield(body());
            return seen.complete(
                    new Seen(afterTheStop, Thread.currentThread().isInterrupted(), owed, isKnown(body()), Entered.NOT));
        });
        assertThat(get(nested)).isEqualTo(Entered.NOT);

        stop(Stop.CANCEL, future);

        assertThat(get(seen)).isEqualTo(new Seen(Entered.NOT, false, true, false, Entered.NOT));
        assertThat(shield.told).hasValue(1);
        assertThat(inner.told).hasValue(0);
    }

    @Test
    void whatFollowsTheBodyIsNotShielded() throws Exception {
        CompletableFuture<?> future = submit(() -> {
            await(go);
            return null;
        });
        CompletableFuture<List<Object>> inContinuation = future.thenApply(value -> {
            Entered entered = body().shield(shield);
            boolean owed = unshield(body());
            boolean forced = body().force();
            return List.of(
                    entered, owed, forced, ((InterruptibleCall) body()).interrupt(Cause.CANCELLED), isKnown(body()));
        });

        go.countDown();

        assertThat(get(inContinuation)).containsExactly(Entered.NOT, false, false, false, false);
        assertThat(get(inListener)).isEqualTo(Entered.NOT);
        assertAllIsOver();
    }

    @Test
    void toEndAShieldThatThereIsNotChangesNothing() throws Exception {
        CompletableFuture<Boolean> owed = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            owed.complete(unshield(body()));
            return new CompletableFuture<>(); // whoever has been stopped cancels it
        });
        assertThat(get(owed)).isFalse();
        TestEngine.awaitParked(test.thread("db"));
        assertThat(future).isNotDone();

        stop(Stop.CANCEL, future);

        assertAllIsOver();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aShieldThatIsLeftOpenEndsWithTheBody(boolean stopped) throws Exception {
        CompletableFuture<?> future = submit(() -> {
            body().shield(shield);
            running.countDown();
            awaitStubbornly(go);
            Thread.currentThread().interrupt();
            throw new StackOverflowError("before it was ended");
        });
        await(running);
        assertThat(isKnown(self.join())).isTrue();

        if (stopped) {
            stop(Stop.CANCEL, future);
        }
        go.countDown();

        assertAllIsOver();
        assertThat(get(inListener)).isEqualTo(Entered.NOT);
        assertThat(get(flagInListener)).isFalse();
        assertThat(shield.told).hasValue(stopped ? 1 : 0);
    }
}
