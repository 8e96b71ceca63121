package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that wait while the longest wait or the capacity of the queue changes. */
@Timeout(300)
@Tag("jdk")
class ChangedWaitTests extends TimedLimits {

    private static final Duration SHORT = Duration.ofMillis(20);

    /** Enough for a busy machine to get through some lines of a test. */
    private static final Duration AMPLE = Duration.ofMillis(500);

    private static final Duration LONG = Duration.ofHours(1);

    private static void assertExpired(Call call) {
        assertThat(call.rejected).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(Reason.WAIT_TIMEOUT);
    }

    /** The timer has one thread: what was due earlier has run when this returns. */
    private void awaitTimer(Duration time) throws Exception {
        timer.schedule(() -> {}, time.toNanos()).get(2, TimeUnit.MINUTES);
    }

    @Test
    void aShorterWaitExpiresCallsThatWaitAlready() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(LONG));
        Call.asked(limit);
        List<Call> waiting = Call.asked(limit, 3);

        limit.setMaxWait(SHORT);

        assertThat(waiting).allSatisfy(ChangedWaitTests::assertExpired);
        assertThat(limit.maxWait()).isEqualTo(SHORT);
        assertThat(limit.waiting()).isZero();
    }

    @Test
    void aFirstLongestWaitExpiresCallsThatWaitAlready() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1));
        Call.asked(limit);
        Call waiting = Call.asked(limit);

        limit.setMaxWait(SHORT);

        assertExpired(waiting);
    }

    @Test
    void aWaitShorterThanACallHasWaitedExpiresItAtOnce() throws Exception {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(LONG));
        Call.asked(limit);
        Call waiting = Call.asked(limit);
        awaitTimer(SHORT);

        limit.setMaxWait(Duration.ofNanos(1));

        assertExpired(waiting);
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = "PT1H")
    void aLongerWaitOrNoneLetsCallsWaitOn(@Nullable Duration longer) throws Exception {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(AMPLE));
        Call holder = Call.asked(limit);
        Call waiting = Call.asked(limit);

        limit.setMaxWait(longer);
        awaitTimer(AMPLE.plus(SHORT));

        assertThat(limit.maxWait()).isEqualTo(longer);
        assertThat(waiting.rejected).isNotDone();
        holder.giveBack();
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void callsThatComeAfterTheChangeExpireByTheNewWait() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(LONG));
        Call.asked(limit);
        limit.setMaxWait(SHORT);

        assertExpired(Call.asked(limit));
        assertExpired(Call.asked(limit));
    }

    @Test
    void anotherChangeLeavesTheLongestWaitInForce() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(AMPLE));
        Call.asked(limit);
        List<Call> calls = Call.asked(limit, 2);

        limit.resize(2);

        assertThat(calls.get(0).holds()).isTrue();
        assertExpired(calls.get(1));
    }

    @Test
    void manyChangesLeaveOneEntryInTheTimer() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withMaxWait(LONG));
        Call.asked(limit, 2);

        for (int i = 1; i <= 1_000; i++) {
            limit.setMaxWait(LONG.plusSeconds(i));
        }
        assertThat(TimerEntries.count(timer)).isOne();

        limit.setMaxWait(null);
        assertThat(TimerEntries.count(timer)).isZero();
    }

    @Test
    void aSmallerQueueKeepsWhoWaitsAndRefusesWhoComes() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1));
        List<Call> calls = Call.asked(limit, 4);

        limit.setQueueCapacity(1);

        assertThat(limit.queueCapacity()).isEqualTo(1);
        assertThat(limit.waiting()).isEqualTo(3);
        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        calls.subList(0, 3).forEach(Call::giveBack);
        assertThat(calls).allMatch(Call::holds);
        assertThat(new Call(limit).ask()).isNull();
        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
    }

    @Test
    void aLargerQueueTakesWhoWasRefusedBefore() {
        SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withQueueCapacity(0));
        Call.asked(limit);
        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);

        limit.setQueueCapacity(LimitSettings.UNBOUNDED);

        assertThat(new Call(limit).ask()).isNull();
        assertThat(limit.waiting()).isEqualTo(1);
    }
}
