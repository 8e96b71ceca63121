package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From when until when a limit is full. */
@Timeout(300)
@Tag("jdk")
class FullLimitTests extends TimedLimits {

    private static final Duration AGE = Duration.ofHours(1);
    private static final int ROUNDS = 1_000_000;

    private final SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1).withQueueCapacity(0));
    private final SemaphoreLimit queue = semaphore(LimitSettings.of("db", 1));

    /** Even while the limit is not full. */
    private final AtomicInteger era = new AtomicInteger();

    @Test
    void aLimitWithoutAQueueIsFullFromTheFirstRefusalOn() {
        Call.asked(limit);
        assertThat(limit.saturated()).as("nobody was refused").isZero();

        refused(limit);

        assertThat(limit.saturated()).isPositive();
    }

    @Test
    void itIsFullSinceTheFirstRefusalNotTheLast() {
        Call.asked(limit);
        refused(limit);
        long since = limit.admission.level.fullSince;

        refused(limit);

        assertThat(limit.admission.level.fullSince).isEqualTo(since);
    }

    @Test
    void aPermitThatIsFreeEndsIt() {
        Call holder = Call.asked(limit);
        refused(limit);

        holder.giveBack();
        assertThat(limit.saturated()).isZero();

        Call.asked(limit);
        assertThat(limit.saturated()).as("nobody was refused since").isZero();
    }

    @Test
    void whoeverIsRefusedAfterwardsBeginsAnew() {
        Call holder = Call.asked(limit);
        refused(limit);
        limit.admission.level.fullSince -= AGE.toNanos();
        assertThat(limit.saturated()).isGreaterThanOrEqualTo(AGE);

        holder.giveBack();
        Call.asked(limit);
        refused(limit);

        assertThat(limit.saturated()).isPositive().isLessThan(AGE);
    }

    @Test
    void itStaysFullWhileAPermitGoesFromOneCallToTheNext() {
        Call holder = Call.asked(queue);
        Call next = Call.asked(queue);
        Call.asked(queue);
        long since = queue.admission.level.fullSince;

        holder.giveBack();

        assertThat(next.holds()).isTrue();
        assertThat(queue.saturated()).isPositive();
        assertThat(queue.admission.level.fullSince).isEqualTo(since);
    }

    @Test
    void aPermitForTheLastThatWaitsEndsIt() {
        Call holder = Call.asked(queue);
        Call last = Call.asked(queue);

        holder.giveBack();

        assertThat(last.holds()).isTrue();
        assertThat(queue.saturated())
                .as("nobody waits, and nobody was refused since")
                .isZero();
    }

    @Test
    void aNewPermitForTheLastThatWaitsEndsIt() {
        Call.asked(queue);
        Call.asked(queue);

        queue.resize(2);

        assertThat(queue.saturated()).isZero();
    }

    @Test
    void itStaysFullWhenThoseWhoWaitedHaveExpired() {
        SemaphoreLimit short0 = semaphore(LimitSettings.of("db", 1).withMaxWait(Duration.ofNanos(1)));
        Call.asked(short0);
        Call expired = Call.asked(short0);

        assertThat(expired.rejected).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(Reason.WAIT_TIMEOUT);

        assertThat(short0.waiting()).isZero();
        assertThat(short0.saturated()).isPositive();
    }

    @Test
    void itStaysFullWhenThoseWhoWaitedWerePutOutOrHaveLeft() {
        Call.asked(queue);
        Call.asked(queue);
        queue.admission.evict(Reason.EVICTED);
        assertThat(queue.saturated()).isPositive();

        assertThat(Call.asked(queue).leaveQueue()).isTrue();
        assertThat(queue.saturated()).isPositive();
    }

    @Test
    void aNestedCallThatIsRefusedMakesItFull() {
        SemaphoreLimit strict = semaphore(LimitSettings.of("db", 1).withNested(Nested.FAIL));
        Call.asked(strict);
        Call nested = new Call(strict) {
            @Override
            protected boolean isNested() {
                return true;
            }
        };

        assertThat(nested.ask()).isEqualTo(Reason.NESTED);

        assertThat(strict.saturated()).isPositive();
    }

    @Test
    void aLimitThatShrinksIsFullUntilAsManyPermitsAreBack() {
        SemaphoreLimit shrinking = semaphore(LimitSettings.of("db", 2).withQueueCapacity(0));
        Call first = Call.asked(shrinking);
        Call second = Call.asked(shrinking);
        refused(shrinking);
        shrinking.resize(1);

        first.giveBack();
        assertThat(shrinking.saturated()).isPositive();

        second.giveBack();
        assertThat(shrinking.saturated()).isZero();
    }

    @Test
    void aLimitWithAFreePermitThatIsTakenAwayWasNotFull() {
        SemaphoreLimit shrinking = semaphore(LimitSettings.of("db", 2).withQueueCapacity(0));
        Call.asked(shrinking);
        Call second = Call.asked(shrinking);
        refused(shrinking);
        second.giveBack();

        shrinking.resize(1);

        assertThat(shrinking.available()).isZero();
        assertThat(shrinking.saturated()).as("a permit was free since").isZero();
    }

    /** Health and log would report a limit that had been full for an hour. */
    @Tag("slow")
    @Test
    void whoeverLooksWhileAFreePermitIsTakenSeesNoEarlierTime() {
        CompletableFuture<Integer> wrong = CompletableFuture.supplyAsync(this::look, Thread::startVirtualThread);

        for (int i = 0; i < ROUNDS; i++) {
            Call holder = Call.asked(limit);
            era.incrementAndGet();
            limit.admission.level.fullSince = System.nanoTime() - AGE.toNanos();
            limit.admission.level.full = true;
            holder.giveBack();
            era.incrementAndGet();
            Call.asked(limit).giveBack();
        }

        assertThat(wrong).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(0);
    }

    private int look() {
        int wrong = 0;
        for (int begin = era.get(); begin < 2 * ROUNDS; begin = era.get()) {
            boolean old = limit.saturated().compareTo(AGE) >= 0;
            wrong += old && begin % 2 == 0 && era.get() == begin ? 1 : 0;
        }
        return wrong;
    }

    private static void refused(SemaphoreLimit limit) {
        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
    }
}
