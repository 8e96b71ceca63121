package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static io.github.virtualthread.execution.TestShield.body;
import static io.github.virtualthread.execution.TestShield.isKnown;
import static io.github.virtualthread.execution.TestShield.unshield;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.StoppableBody.Entered;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows a part of a body, and must not be interrupted either. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class HeldInterruptTests extends ShieldedCalls {

    private final CompletableFuture<Boolean> flag = new CompletableFuture<>();
    private final CountDownLatch never = test.latch();

    private void shieldAndHold() {
        assertThat(body().shield(shield)).isEqualTo(Entered.RUNNING);
        body().unshield(false);
        running.countDown();
    }

    @ParameterizedTest
    @EnumSource
    void theInterruptComesWhenTheThreadIsElsewhere(Stop how) throws Exception {
        shield.goesOn = true;
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            awaitStubbornly(go);
            flag.complete(Thread.currentThread().isInterrupted());
            shield.goesOn = false;
            await(never);
            return null;
        });
        await(running);

        stop(how, future);
        stop(Stop.CANCEL, future); // it must not come by a second stop either
        await(shield.asked);
        go.countDown();

        assertThat(get(flag)).isFalse();
        assertAllIsOver(); // so it was interrupted
        assertFails(future);
        assertThat(shield.told).hasValue(0);
    }

    @Test
    void whoStopsABodyThatIsElsewhereInterruptsItAtOnce() throws Exception {
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            awaitStubbornly(go);
            return flag.complete(Thread.currentThread().isInterrupted());
        });
        await(running);

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(flag)).isTrue();
        assertThat(shield.asked.getCount()).as("asked once").isEqualTo(1);
        assertAllIsOver();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsOwedComesWhenTheThreadIsElsewhere(boolean stoppedDuringThePart) throws Exception {
        shield.goesOn = true;
        CompletableFuture<?> future = submit(() -> {
            if (stoppedDuringThePart) {
                body().shield(shield);
                running.countDown();
                awaitStubbornly(shield.heard);
                body().unshield(false);
            } else {
                running.countDown();
                awaitStubbornly(go);
                body().shield(shield);
                body().unshield(Thread.interrupted());
            }
            await(shield.asked);
            flag.complete(Thread.currentThread().isInterrupted());
            shield.goesOn = false;
            await(never);
            return null;
        });
        await(running);

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(flag)).isFalse();
        assertAllIsOver();
    }

    /** The body has had its interrupt, and has taken the flag away. */
    @Test
    void aStopBeforeThePartInterruptsNoMore() throws Exception {
        CompletableFuture<?> future = submit(() -> {
            running.countDown();
            awaitStubbornly(go);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(body().shield(shield)).isEqualTo(Entered.STOPPED);
            body().unshield(false);
            return flag.complete(Thread.currentThread().isInterrupted());
        });
        await(running);

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(flag)).isFalse();
        assertThat(shield.asked.getCount()).as("never asked").isEqualTo(2);
        assertAllIsOver();
    }

    @Test
    void theNextPartKnowsOfTheStopAndSeesTheFlag() throws Exception {
        shield.goesOn = true;
        TestShield next = new TestShield();
        CompletableFuture<List<Object>> seen = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            awaitStubbornly(go);
            Entered entered = body().shield(next);
            boolean interrupted = Thread.interrupted();
            return seen.complete(List.of(entered, interrupted, unshield(body())));
        });
        await(running);

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(seen)).containsExactly(Entered.STOPPED, true, false);
        assertThat(next.told).hasValue(0);
        assertAllIsOver();
    }

    @Test
    void theNextPartOfABodyThatWasNotStoppedIsOneAsAnyOther() throws Exception {
        TestShield next = new TestShield();
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            return get(self).shield(next) == Entered.RUNNING && flag.complete(unshield(body()));
        });

        assertThat(get(flag)).isFalse();
        assertThat(future).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(true);
        assertAllIsOver();
    }

    @Test
    void whoeverStopsTheCallCancelsTheFutureThatTheBodyReturned() throws Exception {
        shield.goesOn = true;
        CompletableFuture<?> returned = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            return returned;
        });
        TestEngine.awaitParked(test.thread("db"));

        stop(Stop.CANCEL, future);

        assertAllIsOver();
        assertThat(returned).isCancelled();
    }

    @Test
    void operatorsDoNotSeeThePartAnyMore() throws Exception {
        CompletableFuture<?> future = submit(() -> {
            shieldAndHold();
            return flag.complete(isKnown(body()));
        });

        assertThat(get(flag)).isFalse();
        assertThat(future).succeedsWithin(Duration.ofMinutes(2));
        assertAllIsOver();
    }
}
