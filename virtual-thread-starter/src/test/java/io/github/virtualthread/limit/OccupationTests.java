package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
class OccupationTests extends TimedLimits {

    @Test
    void newCallsWaitAndRunningOnesGoOn() {
        TaskLimit limit = limits(LimitSettings.of("db", 2)).get("db");
        Call running = Call.asked(limit);

        Occupation occupation = limit.occupy();
        Call waiting = Call.asked(limit);
        running.giveBack();

        assertThat(waiting.holds()).isFalse();
        assertThat(limit.isOccupied()).isTrue();
        assertThat(limit.available()).isZero();
        assertThat(limit.permits()).isEqualTo(2);
        occupation.close();
        assertThat(waiting.holds()).isTrue();
        assertThat(limit.isOccupied()).isFalse();
        assertThat(limit.available()).isEqualTo(1);
        occupation.close();
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void anOccupiedLimitRejectsAsAFullOne() {
        TaskLimit limit = limits(LimitSettings.of("db", 2).withQueueCapacity(0)).get("db");

        try (Occupation occupation = limit.occupy()) {
            assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
            assertThat(new Call(limit, "acme", null).ask()).isEqualTo(Reason.QUEUE_FULL);
            assertThat(limit.saturated()).isPositive();
        }

        assertThat(limit.saturated()).isZero();
        assertThat(Call.asked(limit).holds()).isTrue();
    }

    @Test
    void aChangeMeanwhileLetsNobodyThrough() {
        TaskLimit limit = limits(LimitSettings.of("db", 2)).get("db");
        Occupation occupation = limit.occupy();
        List<Call> calls = Call.asked(limit, 6);

        limit.resize(5);

        assertThat(calls).noneMatch(Call::holds);
        occupation.close();
        assertThat(calls).filteredOn(Call::holds).hasSize(5);
    }

    @Test
    void theLastOfTwoOpensTheLimit() {
        TaskLimit limit = limits(LimitSettings.of("db", 1)).get("db");
        Occupation one = limit.occupy();
        Occupation two = limit.occupy();
        Call waiting = Call.asked(limit);

        one.close();
        one.close();
        assertThat(waiting.holds()).isFalse();
        two.close();
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void theLimitsWithinAnOccupiedOneWaitToo() {
        TaskLimits limits =
                limits(LimitSettings.of("db", 2), LimitSettings.of("report", 1).withWithin("db"));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");

        Call waiting;
        try (Occupation occupation = db.occupy()) {
            waiting = Call.asked(report);
            assertThat(waiting.holds()).isFalse();
        }
        assertThat(waiting.holds()).isTrue();
        waiting.giveBack();
        try (Occupation occupation = report.occupy()) {
            waiting = Call.asked(report);
            assertThat(Call.asked(db).holds()).isTrue();
            assertThat(waiting.holds()).isFalse();
        }
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void aPoolThatIsReadMeanwhileChangesNothingYet() {
        TaskLimits limits = limits(LimitSettings.of("db", 1).withNested(Nested.FAIL));
        TaskLimit limit = limits.get("db");
        Occupation occupation = limit.occupy();

        limits.adjust(limit, now -> 7);

        assertThat(Call.asked(limit).holds()).isFalse();
        occupation.close();
        assertThat(limit.available()).isEqualTo(6);
    }
}
