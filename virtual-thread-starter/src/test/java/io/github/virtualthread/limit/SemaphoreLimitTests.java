package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
class SemaphoreLimitTests extends TimedLimits {

    private SemaphoreLimit limit(int permits) {
        return semaphore(LimitSettings.of("db", permits));
    }

    private SemaphoreLimit limit(int permits, int queueCapacity) {
        return semaphore(LimitSettings.of("db", permits).withQueueCapacity(queueCapacity));
    }

    @Test
    void grantsAtOnceWhileAPermitIsFree() {
        SemaphoreLimit limit = limit(2);

        assertThat(Call.asked(limit, 3)).extracting(Call::holds).containsExactly(true, true, false);
        assertThat(limit.available()).isZero();
        assertThat(limit.waiting()).isEqualTo(1);
    }

    @Test
    void grantsInTheOrderOfAsking() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 50);

        for (int turn = 0; turn < calls.size(); turn++) {
            int now = turn;
            assertThat(IntStream.range(0, calls.size()).filter(i -> calls.get(i).holds()))
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(0, now).boxed().toList());
            calls.get(turn).giveBack();
        }
    }

    @Test
    void aCallThatComesWhileFreePermitsGoToThoseWhoWaitOvertakesNone() {
        SemaphoreLimit limit = limit(1);
        Call.asked(limit);
        Call late = new Call(limit);
        Call first = new Call(limit) {
            @Override
            protected void granted() {
                assertThat(late.ask()).isNull(); // a permit is free at this moment, and the second still waits
            }
        };
        assertThat(first.ask()).isNull();
        Call second = Call.asked(limit);

        limit.resize(3);

        assertThat(second.holds()).isTrue();
        assertThat(late.holds()).isFalse();
    }

    @Test
    void givesAPermitBackOnlyOnce() {
        SemaphoreLimit limit = limit(2);
        Call call = Call.asked(limit);
        Call.asked(limit);

        call.giveBack();
        call.giveBack();

        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void whoWaitsHasNothingToGiveBack() {
        SemaphoreLimit limit = limit(1);
        Call.asked(limit);
        Call waiting = Call.asked(limit);

        waiting.giveBack();

        assertThat(limit.available()).isZero();
        assertThat(waiting.holds()).isFalse();
    }

    @Test
    void whoLeftTheQueueIsNeitherGrantedNorCounted() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 4);

        assertThat(calls.get(2).leaveQueue()).isTrue();
        assertThat(calls.get(2).leaveQueue()).isFalse();
        assertThat(limit.waiting()).isEqualTo(2);
        calls.get(0).giveBack();
        calls.get(1).giveBack();

        assertThat(calls).extracting(Call::holds).containsExactly(true, true, false, true);
    }

    @Test
    void whoHoldsAPermitCannotLeave() {
        Call holder = Call.asked(limit(1));

        assertThat(holder.leaveQueue()).isFalse();
    }

    @Test
    void refusesOneMoreThanTheQueueHolds() {
        SemaphoreLimit limit = limit(1, 2);
        List<Call> calls = Call.asked(limit, 3);

        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        calls.get(1).leaveQueue();
        assertThat(new Call(limit).ask()).isNull();
        assertThat(limit.waiting()).isEqualTo(2);
    }

    @Test
    void runsWithoutAQueueWhenItsCapacityIsZero() {
        SemaphoreLimit limit = limit(1, 0);
        Call holder = Call.asked(limit);

        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        holder.giveBack();
        assertThat(Call.asked(limit).holds()).isTrue();
    }

    @Test
    void puttingEverybodyOutTellsEachOfThem() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 3);

        limit.admission.evict(Reason.SHUTDOWN);

        assertThat(calls.subList(1, 3)).allSatisfy(call -> assertThat(call.rejected)
                .succeedsWithin(Duration.ofMinutes(2))
                .isEqualTo(Reason.SHUTDOWN));
        assertThat(calls.get(0).rejected).isNotDone();
        assertThat(limit.waiting()).isZero();
        calls.get(0).giveBack();
        assertThat(limit.available()).isEqualTo(1);
    }
}
