package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many permits calls hold. */
@Timeout(300)
@Tag("jdk")
class PermitsInUseTests extends TimedLimits {

    private final TaskLimits limits =
            limits(LimitSettings.of("db", 3), LimitSettings.of("report", 2).withWithin("db"));
    private final TaskLimit db = limits.get("db");
    private final TaskLimit report = limits.get("report");

    @Test
    void areMoreThanThereAreAfterAReduction() {
        List<Call> calls = Call.asked(db, 4);
        assertThat(db.inUse()).isEqualTo(3);

        db.resize(1);
        assertThat(db.inUse()).isEqualTo(3);

        calls.subList(0, 3).forEach(Call::giveBack);
        assertThat(db.inUse()).isEqualTo(1);
    }

    @Test
    void countCallsOfALimitWithin() {
        Call call = Call.asked(report);
        assertThat(db.inUse()).isEqualTo(1);
        assertThat(report.inUse()).isEqualTo(1);

        call.giveBack();
        assertThat(db.inUse()).isZero();
        assertThat(report.inUse()).isZero();
    }

    @Test
    void countAThreadOnceThatHoldsAPermitOfTheLimitAround() {
        Call outer = Call.asked(db);
        Call inner = new Call(report, null, db);
        inner.ask();

        assertThat(inner.holds()).isTrue();
        assertThat(db.inUse()).isEqualTo(1);
        assertThat(report.inUse()).isEqualTo(1);
        inner.giveBack();
        outer.giveBack();
        assertThat(db.inUse()).isZero();
    }

    @Test
    void areThoseOfCallsWhileTheLimitIsOccupied() {
        Call call = Call.asked(db);

        try (Occupation occupation = db.occupy()) {
            assertThat(occupation).isNotNull();
            assertThat(db.inUse()).isEqualTo(1);
            call.giveBack();
            assertThat(db.inUse()).isZero();
        }
        assertThat(db.available()).isEqualTo(3);
    }
}
