package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which calls a limit rejects because their wait would take too long, and which it never does. */
@Timeout(300)
class HopelessTests extends TimedLimits {

    private static final LimitSettings DB = LimitSettings.of("db", 1).withRejectHopeless(true);

    /** Too little for any wait, and enough for all waits of this test. */
    private static final long SOON = 1;

    private static final long LATER = Duration.ofDays(1).toNanos();

    private final Deque<Call> calls = new ArrayDeque<>(); // as they get their permits

    /** So many calls have ended since the limit is full, and so many wait. */
    private void end(int ends, TaskLimit limit, @Nullable String key, int waiting) {
        while (limit.waiting() < ends + waiting) {
            assertThat(ask(limit, key, Long.MAX_VALUE)).isNull();
        }
        for (int i = 0; i < ends; i++) {
            calls.remove().giveBack();
        }
        assertThat(limit.waiting()).isEqualTo(waiting);
    }

    private @Nullable Reason ask(TaskLimit limit, @Nullable String key, long timeLeft) {
        Call call = new Call(limit, key, null);
        Reason refused = call.ask(timeLeft);
        if (refused == null) {
            calls.add(call);
        }
        return refused;
    }

    @Test
    void aCallWhoseTimeIsTooShortIsRejected() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
        assertThat(ask(limit, null, LATER)).isNull();
        assertThat(limit.waiting()).isEqualTo(2);
    }

    /** It ends the wait by itself, also of those to which their caller lends its permit before. */
    @Test
    void theMaximumWaitIsNoReason() {
        TaskLimit limit = limit(DB.withMaxWait(Duration.ofDays(1)));
        end(10, limit, null, 1);

        assertThat(ask(limit, null, Long.MAX_VALUE)).isNull();
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
    }

    @Test
    void withoutThePropertyNobodyIs() {
        TaskLimit limit = limit(LimitSettings.of("db", 1));
        end(10, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isNull();
        assertThat(limit.expectedWait()).isNull();
    }

    @Test
    void thePropertyMayCome() {
        TaskLimit limit = limit(LimitSettings.of("db", 1));
        end(10, limit, null, 1);
        limit.change(now -> now.withRejectHopeless(true));

        assertThat(ask(limit, null, SOON)).as("it has seen nothing yet").isNull();
        end(10, limit, null, 12);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);

        limit.change(now -> now.withRejectHopeless(false));
        assertThat(ask(limit, null, SOON)).isNull();
    }

    @Test
    void aCallWithoutDeadlineAndMaximumWaitIsNot() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);

        assertThat(ask(limit, null, Long.MAX_VALUE)).isNull();
    }

    @Test
    void afterFewerThanTenEndsNobodyIs() {
        TaskLimit limit = limit(DB);
        end(9, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isNull();
    }

    /** So a stale pace shuts no limit: one call waits, and its end says how fast the limit is now. */
    @Test
    void theFirstThatWaitsIsNot() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);
        assertThat(calls.removeLast().leaveQueue()).isTrue();

        assertThat(limit.saturated()).isPositive();
        assertThat(ask(limit, null, SOON)).isNull();
        assertThat(ask(limit, null, SOON)).as("the next one").isEqualTo(Reason.HOPELESS);
    }

    @Test
    void afterAFreePermitAnotherTimeBegins() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 0);
        calls.remove().giveBack();

        end(0, limit, null, 1);
        assertThat(ask(limit, null, SOON)).isNull();
    }

    @Test
    void theOtherBoundsComeFirst() {
        TaskLimit limit = limit(DB.withNested(Nested.FAIL));
        end(10, limit, null, 1);
        Call nested = new Call(limit) {
            @Override
            protected boolean isNested() {
                return true;
            }
        };
        assertThat(nested.ask(SOON)).isEqualTo(Reason.NESTED);

        limit.setQueueCapacity(1);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.QUEUE_FULL);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.QUEUE_FULL);
    }

    @Test
    void anOccupationBeginsAnew() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);
        TaskLimit.Occupation occupation = limit.occupy();
        assertThat(ask(limit, null, SOON)).as("occupied").isNull();
        occupation.close();
        assertThat(ask(limit, null, SOON)).as("it has seen nothing yet").isNull();

        end(10, limit, null, 13);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
        limit.occupy().close(); // nobody asks meanwhile
        assertThat(ask(limit, null, SOON)).isNull();
    }

    @Test
    void thePaceFollowsTheNumberOfPermits() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);
        limit.resize(2);
        assertThat(limit.waiting()).isZero();

        end(10, limit, null, 11);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
    }

    @Test
    void aLeaseThatLendsNothingBeginsAnew() {
        TaskLimit limit = limit(DB.withClusterPermits(1));
        TestLease lease = new TestLease(limit);
        lease.lend(1, 1);
        end(10, limit, null, 1);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);

        lease.lend(0, 1);
        assertThat(ask(limit, null, SOON)).isNull();
        lease.lend(1, 1);
        assertThat(ask(limit, null, SOON)).isNull();
    }

    /** Keys have been used once; none has calls now. */
    @Test
    void aCallWithoutKeyIsAgainWhenNobodyHasAKey() {
        TaskLimit limit = limit(DB);
        Call.asked(limit, "acme").giveBack();
        end(10, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
    }

    /** Some go before others, so nothing is known for sure. */
    @Test
    void nobodyIsWhileCallsHaveKeys() {
        TaskLimit limit = limit(DB);
        end(10, limit, "acme", 1);
        assertThat(ask(limit, null, Long.MAX_VALUE)).isNull();

        assertThat(ask(limit, null, SOON)).isNull();
        assertThat(ask(limit, "acme", SOON)).isNull();
        assertThat(limit.expectedWait()).isNull();
    }

    @Test
    void nobodyIsAmongLimitsWithinEachOther() {
        TaskLimits limits = limits(
                DB, LimitSettings.of("report", 1).withRejectHopeless(true).withWithin("db"));
        end(10, limits.get("db"), null, 1);

        assertThat(ask(limits.get("db"), null, SOON)).isNull();
        assertThat(ask(limits.get("report"), null, SOON)).isNull();
        assertThat(limits.get("db").expectedWait()).isNull();
    }
}
