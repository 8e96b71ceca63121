package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
class MaxWaitTests extends TimedLimits {

    private static final Duration SHORT = Duration.ofMillis(20);

    /** Enough for a busy machine to get through some lines of a test. */
    private static final Duration AMPLE = Duration.ofMillis(500);

    private static final Duration LONG = Duration.ofHours(1);

    private SemaphoreLimit limit(Duration maxWait) {
        return semaphore(LimitSettings.of("db", 1).withMaxWait(maxWait));
    }

    @Test
    void waitersExpireInTheOrderOfTheQueue() {
        SemaphoreLimit limit = limit(SHORT);
        Call.asked(limit);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Reason>> expired = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int mine = i;
            Call call = new Call(limit) {
                @Override
                protected void onRejected(Reason reason) {
                    order.add(mine);
                }
            };
            assertThat(call.ask()).isNull();
            expired.add(call.rejected);
        }

        assertThat(expired)
                .allSatisfy(each ->
                        assertThat(each).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(Reason.WAIT_TIMEOUT));
        assertThat(order).isSorted().hasSize(100);
        assertThat(limit.waiting()).isZero();
    }

    @Test
    void aWaiterThatTimedOutSwallowsNoPermit() {
        SemaphoreLimit limit = limit(SHORT);
        Call holder = Call.asked(limit);
        Call expired = Call.asked(limit);
        assertThat(expired.rejected).succeedsWithin(2, TimeUnit.MINUTES);

        holder.giveBack();

        assertThat(expired.holds()).isFalse();
        assertThat(limit.available()).isEqualTo(1);
        assertThat(Call.asked(limit).holds()).isTrue();
    }

    @Test
    void waitersOfALaterTimerExpireToo() {
        SemaphoreLimit limit = limit(SHORT);
        Call.asked(limit);

        assertThat(Call.asked(limit).rejected).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(Call.asked(limit).rejected).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void whoGetsItsPermitInTimeIsNotRejectedLater() {
        SemaphoreLimit limit = limit(AMPLE);
        Call holder = Call.asked(limit);
        Call granted = Call.asked(limit);
        holder.giveBack();

        Call expiringAfterIt = Call.asked(limit);
        assertThat(expiringAfterIt.rejected).succeedsWithin(2, TimeUnit.MINUTES);

        assertThat(granted.rejected).isNotDone();
        assertThat(granted.holds()).isTrue();
    }

    @Test
    void oneTimerServesAllWaiters() {
        SemaphoreLimit limit = limit(LONG);

        Call.asked(limit, 1_000);

        assertThat(limit.waiting()).isEqualTo(999);
        assertThat(TimerEntries.count(timer)).isOne();
    }

    @Test
    void theTimerHasNoThreadBeforeSomebodyWaits() {
        SemaphoreLimit limit = limit(LONG);
        Call.asked(limit);
        assertThat(TimerEntries.threads(timer)).isZero();

        Call.asked(limit);

        assertThat(TimerEntries.threads(timer)).isEqualTo(1);
    }

    @Test
    void aWaitOfCenturiesDoesNotOverflow() {
        SemaphoreLimit limit = limit(Duration.ofSeconds(Long.MAX_VALUE));
        Call holder = Call.asked(limit);
        Call waiting = Call.asked(limit);

        assertThat(waiting.rejected).isNotDone();
        holder.giveBack();
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void aClosedTimerLetsCallsWait() {
        SemaphoreLimit limit = limit(LONG);
        timer.close();
        Call holder = Call.asked(limit);
        Call waiting = Call.asked(limit);

        holder.giveBack();

        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void aCallIsNotQueuedWhenTheTimerCannotStart() {
        boolean[] broken = {true};
        try (TaskTimer unreliable = TimerEntries.withThreads(action -> {
            if (broken[0]) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofPlatform().daemon().unstarted(action);
        })) {
            SemaphoreLimit limit =
                    new SemaphoreLimit(LimitSettings.of("db", 1).withMaxWait(SHORT), null, unreliable, change -> {});
            Call.asked(limit);

            assertThatThrownBy(() -> Call.asked(limit)).isInstanceOf(OutOfMemoryError.class);
            assertThat(limit.waiting()).isZero();

            broken[0] = false;
            assertThat(Call.asked(limit).rejected).succeedsWithin(2, TimeUnit.MINUTES);
        }
    }
}
