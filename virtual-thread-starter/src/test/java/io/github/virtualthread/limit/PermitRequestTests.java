package io.github.virtualthread.limit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a request knows of itself, and what a limit tells of its requests. */
@Timeout(300)
@Tag("jdk")
class PermitRequestTests extends TimedLimits {

    private SemaphoreLimit limit(Nested nested) {
        return semaphore(LimitSettings.of("db", 1).withNested(nested));
    }

    @Test
    void withoutALimitAPermitIsThereAtOnce() {
        Call call = new Call(null);

        assertThat(call.ask()).isNull();
        assertThat(call.holds()).isTrue();
        assertThat(call.failed).isNotDone();
        assertThat(call.leaveQueue()).isFalse();
    }

    @Test
    void withoutALimitTooWhatGoesWrongIsTold() {
        Call call = Call.withoutThread(null);

        assertThat(call.ask()).isNull();
        assertThat(call.failed).succeedsWithin(Duration.ofMinutes(2)).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void holdsFromTheGrantToTheReturn() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call first = Call.asked(limit);
        Call second = Call.asked(limit);
        assertThat(first.holdsPermit()).isTrue();
        assertThat(second.holdsPermit()).isFalse();

        first.giveBack();

        assertThat(first.holdsPermit()).isFalse();
        assertThat(second.holdsPermit()).isTrue();
    }

    @Test
    void leavesTheQueueOnce() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call.asked(limit);
        Call waiting = Call.asked(limit);
        assertThat(waiting.isQueued()).isTrue();

        assertThat(waiting.leaveQueue()).isTrue();

        assertThat(waiting.isQueued()).isFalse();
        assertThat(waiting.leaveQueue()).isFalse();
        assertThat(limit.admission.remove(waiting))
                .as("whoever comes too late to take it out")
                .isFalse();
    }

    @Test
    void anOtherThreadGetsToTheLimitAfterwards() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call holder = Call.asked(limit);
        Call.asked(limit).leaveQueue();
        limit.admission.waiting(10);
        Call waiting = Call.asked(limit);

        CompletableFuture.runAsync(holder::giveBack, Thread::startVirtualThread);

        assertThat(waiting.granted).succeedsWithin(120, SECONDS);
    }

    @Test
    void anOtherThreadGetsToTheLimitAfterAllWerePutOut() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call holder = Call.asked(limit);
        Call.asked(limit);

        assertThat(limit.admission.evict(Reason.EVICTED)).isEqualTo(1);

        Call waiting = Call.asked(limit);
        CompletableFuture.runAsync(holder::giveBack, Thread::startVirtualThread);
        assertThat(waiting.granted).succeedsWithin(120, SECONDS);
    }

    @Test
    void aNestedCallIsRefusedWhereTheLimitSaysSo() {
        SemaphoreLimit limit = limit(Nested.FAIL);
        Call.asked(limit);

        assertThat(new NestedCall(limit).ask()).isEqualTo(Reason.NESTED);
        assertThat(limit.nested()).isEqualTo(Nested.FAIL);
        assertThat(limit.waiting()).isZero();
    }

    @Test
    void aNestedCallThatMayWaitIsToldThatItIsNested() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call.asked(limit);
        Call nested = new NestedCall(limit);

        assertThat(nested.ask()).isNull();
        assertThat(nested.told).isTrue();
    }

    @Test
    void aNestedCallThatFindsAPermitIsToldNothing() {
        Call nested = new NestedCall(limit(Nested.WARN));

        assertThat(nested.ask()).isNull();
        assertThat(nested.told).isFalse();
    }

    @Test
    void whoIsNotNestedWaitsWhateverIsSaidOfNestedCalls() {
        SemaphoreLimit limit = limit(Nested.FAIL);
        Call.asked(limit);
        Call waiting = Call.asked(limit);

        assertThat(waiting.isQueued()).isTrue();
        assertThat(waiting.told).isFalse();
    }

    @Test
    void aLimitCountsThePermitsThatCameBack() {
        SemaphoreLimit limit = limit(Nested.WARN);
        Call holder = Call.asked(limit);
        assertThat(limit.completed()).isZero();

        holder.giveBack();

        assertThat(limit.completed()).isEqualTo(1);
    }

    @Test
    void tellsTheFirstThatWaitAsManyAsAskedFor() {
        TaskLimits limits = limits(LimitSettings.of("db", 1));
        Call.asked(limits.get("db"));
        List<Call> waiting = Call.asked(limits.get("db"), 3);

        assertThat(PermitRequest.waiting(limits.get("db"), 2)).isEqualTo(waiting.subList(0, 2));
        assertThat(PermitRequest.waiting(limits.get("db"), 9)).isEqualTo(waiting);
    }

    @Test
    void theTimerWakesForTheHeadWhenThatHasWaitedLongEnough() {
        WaitQueue queue = new WaitQueue(() -> 1);
        Call head = new Call(null);
        head.joinedAt = System.nanoTime() - Duration.ofMinutes(50).toNanos();
        queue.add(head);

        LimitSettings patient = LimitSettings.of("db", 1).withMaxWait(Duration.ofHours(1));

        TaskLimit limit = semaphore(patient);
        new Expiry(queue, new BriefLock(), timer, new RejectionQueue(timer), limit).schedule();

        assertThat(TimerEntries.count(timer)).isOne();
        assertThat(TimerEntries.untilFirst(timer).toSeconds()).isBetween(500L, 600L);
    }

    @Test
    void onlyWhoHasWaitedLongEnoughIsTakenOut() {
        WaitQueue queue = new WaitQueue(() -> 1);
        Call old = new Call(null);
        long now = System.nanoTime();
        old.joinedAt = now - Duration.ofHours(1).toNanos();
        Call fresh = new Call(null);
        fresh.joinedAt = now;
        queue.add(old);
        queue.add(fresh);

        assertThat(queue.pollWaitingAtLeast(Duration.ofHours(2).toNanos(), now)).isNull();
        assertThat(queue.pollWaitingAtLeast(Duration.ofMinutes(30).toNanos(), now))
                .isSameAs(old);
        assertThat(queue.pollWaitingAtLeast(Duration.ofMinutes(30).toNanos(), now))
                .isNull();
        assertThat(queue.oldest()).isSameAs(fresh);
    }

    private static final class NestedCall extends Call {

        NestedCall(@Nullable TaskLimit limit) {
            super(limit);
        }

        @Override
        protected boolean isNested() {
            return true;
        }
    }
}
