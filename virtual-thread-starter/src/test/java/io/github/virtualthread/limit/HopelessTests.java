package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
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

    /** What is expected only grows from here on: nobody's wait ends. */
    @Test
    void halfOfTheTimeIsForTheRun() {
        TaskLimit limit = limit(DB);
        try (Jam unused = new Jam(limit, Duration.ofSeconds(1))) { // far more than what is rounded
            long expected = Objects.requireNonNull(limit.expectedWait(null)).toNanos();

            assertThat(ask(limit, null, expected + expected / 2)).isEqualTo(Reason.HOPELESS);
        }
    }

    @Test
    void theMaximumWaitIsTimeToo() {
        TaskLimit limit = limit(DB);
        end(10, limit, null, 1);
        Reason refused = ((SemaphoreLimit) limit)
                .admission.lock.locked(
                        () -> { // nobody's wait ends meanwhile
                            limit.setMaxWait(Duration.ofNanos(SOON));
                            Reason first = ask(limit, null, Long.MAX_VALUE);
                            assertThat(ask(limit, null, LATER)).isEqualTo(first);
                            limit.setMaxWait(Duration.ofDays(1));
                            return first;
                        });

        assertThat(refused).isEqualTo(Reason.HOPELESS);
        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
        assertThat(ask(limit, null, Long.MAX_VALUE)).isNull();
    }

    @Test
    void withoutThePropertyNobodyIs() {
        TaskLimit limit = limit(LimitSettings.of("db", 1));
        end(10, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isNull();
        assertThat(limit.expectedWait(null)).isNull();
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
    void aCallThatNeedNotWaitForItsTurnIsNot() {
        TaskLimit limit = limit(DB.withMaxWait(Duration.ofDays(1)));
        end(10, limit, null, 1);

        assertThat(ask(limit, null, 0)).isNull();
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

    /** Who waits in another line is not before it. */
    @Test
    void aKeyOfWhichNobodyWaitsIsNot() {
        TaskLimit limit = limit(DB);
        end(10, limit, "acme", 1);

        assertThat(ask(limit, "bolt", SOON)).isNull();
        assertThat(ask(limit, "bolt", SOON)).isEqualTo(Reason.HOPELESS);
        assertThat(ask(limit, "bolt", LATER)).isNull();
        assertThat(ask(limit, "acme", SOON)).isEqualTo(Reason.HOPELESS);
        assertThat(limit.waiting()).isEqualTo(3);
        assertThat(limit.key("bolt").waiting()).isEqualTo(2);
    }

    @Test
    void aCallWithoutKeyIsNotWhileOthersHaveKeys() {
        TaskLimit limit = limit(DB);
        end(10, limit, "acme", 1);
        assertThat(ask(limit, null, Long.MAX_VALUE)).isNull();

        assertThat(ask(limit, null, SOON)).isNull();
        assertThat(limit.expectedWait(null)).isNull();
    }

    /** Keys have been used once; none has calls now. */
    @Test
    void aCallWithoutKeyIsAgainWhenNobodyHasAKey() {
        TaskLimit limit = limit(DB);
        Call.asked(limit, "acme").giveBack();
        end(10, limit, null, 1);

        assertThat(ask(limit, null, SOON)).isEqualTo(Reason.HOPELESS);
    }

    @Test
    void whoHoldsAPermitOfALimitAroundIsNot() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 2),
                LimitSettings.of("report", 1).withRejectHopeless(true).withWithin("db"));
        TaskLimit report = limits.get("report");
        end(10, report, null, 1);
        assertThat(ask(report, null, SOON)).isEqualTo(Reason.HOPELESS);

        assertThat(new Call(report, null, limits.get("db")).ask(SOON)).isNull();
    }

    /** Four permits come free for one call of db that reports do not take. */
    @Test
    void aLineHasItsPartOfThePace() {
        TaskLimits limits =
                limits(DB.withPermits(4), LimitSettings.of("report", 3).withWithin("db"));
        TaskLimit db = limits.get("db");
        List<Call> reports = Call.asked(limits.get("report"), 3);
        end(10, db, null, 1);
        PermitLevel level = ((SemaphoreLimit) db).admission.level;

        assertThat(level.ahead(null, 1)).isEqualTo(2 * 4);
        reports.forEach(Call::giveBack);
        assertThat(db.waiting()).isZero();
        assertThat(level.ahead(null, 1)).isZero();
    }

    @Test
    void aLineWithoutPermitsHasItsTurns() {
        TaskLimit limit = limit(DB.withPermits(4));
        PermitLevel level = ((SemaphoreLimit) limit).admission.level;
        Call.asked(limit, "acme");
        Call.asked(limit, "acme");
        Call.asked(limit, "bolt");
        Call.asked(limit, "crux");
        assertThat(level.ahead("acme", 1)).as("nobody waits").isZero();
        Call.asked(limit, "acme");
        Call.asked(limit, "dent");
        Call.asked(limit, "dent");

        assertThat(level.ahead("acme", 1)).as("it has two of four permits").isEqualTo(2 * 4 / 2.0);
        assertThat(level.ahead("bolt", 1)).as("nobody waits").isZero();
        assertThat(level.ahead("dent", 1)).as("two lines take turns").isEqualTo(3 * 2);
        assertThat(level.ahead("elmo", 1)).as("unknown").isZero();
    }
}
