package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From when until when limits that lie within each other are full. */
@Timeout(300)
@Tag("jdk")
class FullWithinTests extends TimedLimits {

    private static final Duration AGE = Duration.ofHours(1);

    private TaskLimits limits(int db, LimitSettings report) {
        return limits(LimitSettings.of("db", db), report.withWithin("db"));
    }

    private static void age(TaskLimit limit) {
        ((SemaphoreLimit) limit).admission.level.fullSince -= AGE.toNanos();
    }

    @Test
    void anInnerLimitIsNotFullOnceTheOneAroundItHadAPermitFree() {
        TaskLimits limits = limits(1, LimitSettings.of("report", 1).withQueueCapacity(0));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        Call running = Call.asked(db);
        assertThat(new Call(report).ask()).isEqualTo(Reason.QUEUE_FULL);
        age(report);
        assertThat(report.saturated()).isGreaterThanOrEqualTo(AGE);

        running.giveBack();
        assertThat(report.saturated()).isZero();
        Call.asked(db);

        assertThat(report.saturated()).as("no call of it was refused since").isZero();
        assertThat(new Call(report).ask()).isEqualTo(Reason.QUEUE_FULL);
        assertThat(report.saturated()).isPositive().isLessThan(AGE);
    }

    @Test
    void anInnerLimitIsNotFullOnceTheOneAroundItHadAPermitFreeUntilItWasOccupied() {
        TaskLimits limits = limits(1, LimitSettings.of("report", 1).withQueueCapacity(0));
        TaskLimit report = limits.get("report");
        Call running = Call.asked(limits.get("db"));
        assertThat(new Call(report).ask()).isEqualTo(Reason.QUEUE_FULL);
        running.giveBack();

        try (TaskLimit.Occupation occupied = limits.get("db").occupy()) {
            assertThat(report.saturated()).isZero();
        }
    }

    @Test
    void aLimitIsFullAsLongAsThreadsWaitThatHoldAPermitOfTheOneAroundIt() {
        TaskLimits limits = limits(5, LimitSettings.of("report", 1));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        Call.asked(db, 3);
        Call first = new Call(report, null, db);
        Call second = new Call(report, null, db);
        Call third = new Call(report, null, db);
        List.of(first, second, third).forEach(each -> assertThat(each.ask()).isNull());

        first.giveBack();

        assertThat(second.holds()).isTrue();
        assertThat(third.holds()).isFalse();
        assertThat(report.saturated()).isPositive();
        second.giveBack();
        assertThat(third.holds()).isTrue();
        assertThat(report.saturated()).as("nobody waits").isZero();
    }

    @Test
    void aLimitIsNotFullBecauseThreadsWaitThatHoldItsPermits() {
        TaskLimits limits = limits(1, LimitSettings.of("report", 1));
        TaskLimit db = limits.get("db");
        Call running = Call.asked(db);
        Call.asked(db);
        assertThat(new Call(limits.get("report"), null, db).ask()).isNull();
        assertThat(new Call(limits.get("report"), null, db).ask()).isNull();

        running.giveBack();

        assertThat(limits.get("report").saturated()).isPositive();
        assertThat(db.saturated()).as("nobody waits for it").isZero();
    }

    @Test
    void aThreadThatHoldsThePermitAroundDoesNotEndIt() {
        TaskLimits limits = limits(1, LimitSettings.of("report", 2));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        Call.asked(db);
        Call waiting = Call.asked(report);

        Call inner = new Call(report, null, db);
        assertThat(inner.ask()).isNull();

        assertThat(inner.holds()).isTrue();
        assertThat(waiting.holds()).isFalse();
        assertThat(report.saturated()).isPositive();
    }

    @Test
    void aKeyThatMayRunAndWaitsForTheLimitAroundMakesItFull() {
        TaskLimits limits = limits(1, LimitSettings.of("report", 2).withPermitsPerKey(1));
        TaskLimit report = limits.get("report");
        Call running = Call.asked(report, "a");
        Call ofDb = Call.asked(limits.get("db"));
        Call waiting = Call.asked(report, "a");
        assertThat(report.saturated()).as("its key waits for itself").isZero();

        running.giveBack();

        assertThat(ofDb.holds()).isTrue();
        assertThat(waiting.holds()).isFalse();
        assertThat(report.saturated()).isPositive();
    }
}
