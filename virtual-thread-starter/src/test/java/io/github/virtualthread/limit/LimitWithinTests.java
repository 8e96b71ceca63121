package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("jdk")
class LimitWithinTests extends TimedLimits {

    private final List<String> order = new ArrayList<>();

    private TaskLimits dbWithReport(int db, int report) {
        return limits(LimitSettings.of("report", report).withWithin("db"), LimitSettings.of("db", db));
    }

    private Call asked(TaskLimit limit, String name, @Nullable TaskLimit held) {
        Call call = new Call(limit, null, held) {
            @Override
            protected void granted() {
                order.add(name);
                super.granted();
            }
        };
        assertThat(call.ask()).isNull();
        return call;
    }

    private Call asked(TaskLimit limit, String name) {
        return asked(limit, name, null);
    }

    @Test
    void aCallTakesAPermitOfBothAndGivesBothBack() {
        TaskLimits limits = dbWithReport(2, 1);
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");

        Call call = Call.asked(report);

        assertThat(call.holds()).isTrue();
        assertThat(db.available()).isEqualTo(1);
        assertThat(report.available()).isZero();
        call.giveBack();
        assertThat(db.available()).isEqualTo(2);
        assertThat(report.available()).isEqualTo(1);
        assertThat(db.completed()).isEqualTo(1);
        assertThat(report.completed()).isEqualTo(1);
        assertThat(report.within()).isSameAs(db);
        assertThat(report.includes(db)).isTrue();
        assertThat(db.includes(report)).isFalse();
    }

    @Test
    void whoWaitsHoldsNothing() {
        TaskLimits limits = dbWithReport(1, 2);
        Call running = Call.asked(limits.get("db"));

        Call waiting = Call.asked(limits.get("report"));

        assertThat(waiting.holds()).isFalse();
        assertThat(limits.get("report").available()).isEqualTo(2);
        assertThat(limits.get("report").waiting()).isEqualTo(1);
        assertThat(limits.get("db").waiting()).isZero();
        assertThat(limits.get("report").saturated()).isPositive();
        running.giveBack();
        assertThat(waiting.holds()).isTrue();
        assertThat(limits.get("db").available()).isZero();
    }

    @Test
    void theOneThatHasWaitedLongestGoesFirstOfThoseThatCouldGo() {
        TaskLimits limits = dbWithReport(2, 1);
        TaskLimit db = limits.get("db");
        List<Call> running = List.of(asked(db, "h1"), asked(db, "h2"));
        List<Call> calls = new ArrayList<>();
        for (String name : "d1 r1 r2 d2 d3 r3".split(" ")) {
            calls.add(asked(limits.get(name.startsWith("d") ? "db" : "report"), name));
        }

        running.forEach(Call::giveBack);
        for (int ended = 0; ended < calls.size(); ended++) {
            calls.stream()
                    .filter(each -> each.holds() && each.holdsPermit())
                    .findFirst()
                    .orElseThrow()
                    .giveBack();
        }

        assertThat(order).containsExactly("h1", "h2", "d1", "r1", "d2", "r2", "d3", "r3");
        assertThat(db.available()).isEqualTo(2);
    }

    @Test
    void aCallOfTheOuterLimitDoesNotWaitBehindAReportThatWaitsForReport() {
        TaskLimits limits = dbWithReport(2, 1);
        Call report = Call.asked(limits.get("report"));
        Call waiting = Call.asked(limits.get("report"));

        Call db = Call.asked(limits.get("db"));

        assertThat(db.holds()).isTrue();
        report.giveBack();
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void queueAndWaitAreThoseOfTheLimitThatIsNamed() throws Exception {
        TaskLimits limits = limits(
                LimitSettings.of("db", 1).withQueueCapacity(0).withNested(Nested.FAIL),
                LimitSettings.of("report", 1)
                        .withWithin("db")
                        .withQueueCapacity(1)
                        .withMaxWait(Duration.ofMillis(20)));
        Call running = Call.asked(limits.get("db"));

        Call waiting = Call.asked(limits.get("report"));

        assertThat(new Call(limits.get("report")).ask()).isEqualTo(Reason.QUEUE_FULL);
        assertThat(new Call(limits.get("db")).ask()).isEqualTo(Reason.QUEUE_FULL);
        assertThat(waiting.rejected.get(2, TimeUnit.MINUTES)).isEqualTo(Reason.WAIT_TIMEOUT);
        assertThat(new LimitExceededException("Shop.report", limits.get("report"), Reason.WAIT_TIMEOUT))
                .hasMessageContaining("has 1 permit free and 0 calls waiting, and limit db around it has 0 of 1;");
        running.giveBack();
        assertThat(limits.get("db").available()).isEqualTo(1);
    }

    @Test
    void aChangeOfEitherStartsWhoWaits() {
        TaskLimits limits = dbWithReport(2, 1);
        Call first = Call.asked(limits.get("report"));
        Call second = Call.asked(limits.get("report"));
        Call third = Call.asked(limits.get("report"));

        limits.get("report").resize(3);
        assertThat(second.holds()).isTrue();
        assertThat(third.holds()).isFalse();
        limits.get("db").resize(3);
        assertThat(third.holds()).isTrue();
        limits.get("db").resize(1);
        first.giveBack();
        second.giveBack();
        assertThat(limits.get("db").available()).isZero();
        Call fourth = Call.asked(limits.get("report"));
        third.giveBack();
        assertThat(fourth.holds()).isTrue();
    }

    @Test
    void aThreadThatHoldsTheOuterPermitTakesOnlyTheInnerOneAndGoesFirst() {
        TaskLimits limits = dbWithReport(2, 1);
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        Call first = Call.asked(db);
        Call second = Call.asked(db);
        Call waiting = asked(report, "waits for db");

        Call inner = asked(report, "inner of the first", db);
        assertThat(inner.holds()).as("db has none free, but the thread has one").isTrue();
        Call innerOfSecond = asked(report, "inner of the second", db);
        assertThat(innerOfSecond.holds()).isFalse();
        assertThat(report.waiting()).isEqualTo(2);
        first.giveBack(); // while its inner call goes on, as no call of the engine does
        assertThat(waiting.holds()).isFalse();
        inner.giveBack();

        assertThat(order).containsExactly("inner of the first", "inner of the second");
        innerOfSecond.giveBack();
        assertThat(order).endsWith("waits for db");
        second.giveBack();
        waiting.giveBack();
        assertThat(db.available()).isEqualTo(2);
        assertThat(db.completed()).isEqualTo(3);
        assertThat(report.completed()).isEqualTo(3);
    }

    @Test
    void nobodyOvertakesACallOfAnInnerLimitThatIsAboutToBegin() {
        TaskLimits limits = dbWithReport(1, 2);
        TaskLimit db = limits.get("db");
        Call running = Call.asked(db);
        Call late = new Call(db);
        Call first = new Call(limits.get("report")) {
            @Override
            protected void granted() {
                super.granted();
                assertThat(late.ask()).isNull(); // a second permit is free, and the second call is to have it
            }
        };
        assertThat(first.ask()).isNull();
        Call second = Call.asked(limits.get("report"));

        db.resize(3);

        assertThat(first.holds()).isTrue();
        assertThat(second.holds()).isTrue();
        assertThat(late.holds()).isFalse();
        running.giveBack();
        assertThat(late.holds()).isTrue();
    }

    @Test
    void nobodyOvertakesACallOfAnInnerLimitWhoseThreadHoldsAPermit() {
        TaskLimits limits = limits(
                LimitSettings.of("tiny", 1).withWithin("report"),
                LimitSettings.of("report", 1).withWithin("db"),
                LimitSettings.of("db", 5));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        List<Call> holders = Call.asked(db, 3);
        Call running = asked(report, "running", db);
        Call late = new Call(report, null, db);
        Call first = new Call(report, null, db) {
            @Override
            protected void granted() {
                super.granted();
                assertThat(late.ask()).isNull(); // a second permit is free, and the call of tiny is to have it
            }
        };
        assertThat(first.ask()).isNull();
        Call second = asked(limits.get("tiny"), "second", db);
        assertThat(second.holds()).isFalse();

        report.resize(3);

        assertThat(first.holds()).isTrue();
        assertThat(second.holds()).isTrue();
        assertThat(late.holds()).isFalse();
        running.giveBack();
        assertThat(late.holds()).isTrue();
        List.of(first, second, late).forEach(Call::giveBack);
        holders.forEach(Call::giveBack);
        assertThat(limits.all()).allSatisfy(each -> assertThat(each.available()).isEqualTo(each.permits()));
    }

    @Test
    void nobodyIsRefusedOnlyBecauseACallOfAnInnerLimitIsAboutToBegin() {
        TaskLimits limits = limits(
                LimitSettings.of("report", 1).withWithin("db"),
                LimitSettings.of("db", 5).withQueueCapacity(0));
        TaskLimit report = limits.get("report");
        Call running = Call.asked(report);
        Call late = new Call(limits.get("db"));
        Call first = new Call(report) {
            @Override
            protected void granted() {
                super.granted();
                assertThat(late.ask()).isNull(); // db has three free permits, and the second call is to have one
            }
        };
        assertThat(first.ask()).isNull();
        Call second = Call.asked(report);

        report.resize(3);

        assertThat(List.of(first, second, late))
                .allSatisfy(each -> assertThat(each.holds()).isTrue());
        List.of(running, first, second, late).forEach(Call::giveBack);
        assertThat(limits.all()).allSatisfy(each -> assertThat(each.available()).isEqualTo(each.permits()));
    }

    @Test
    void evictionEmptiesTheQueueOfOneLimitOnly() {
        TaskLimits limits = dbWithReport(1, 1);
        Call running = Call.asked(limits.get("db"));
        Call ofDb = Call.asked(limits.get("db"));
        Call ofReport = Call.asked(limits.get("report"));
        Call held = new Call(limits.get("report"), null, limits.get("db"));
        Call other = Call.asked(limits.get("db"));
        assertThat(held.ask()).isNull();
        Call heldToo = new Call(limits.get("report"), null, limits.get("db"));
        assertThat(heldToo.ask()).isNull();

        assertThat(limits.evictWaiting("report")).isEqualTo(2);

        assertThat(ofReport.rejected).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(Reason.EVICTED);
        assertThat(heldToo.rejected).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(Reason.EVICTED);
        assertThat(held.holds()).isTrue();
        assertThat(limits.get("db").waiting()).isEqualTo(2);
        running.giveBack();
        assertThat(ofDb.holds()).isTrue();
        assertThat(other.holds()).isFalse();
    }

    @Test
    void aCallThatCannotStartGivesBackWhatItTook() throws Exception {
        TaskLimits limits = dbWithReport(1, 1);
        Call broken = Call.withoutThread(limits.get("report"));

        assertThat(broken.ask()).isNull();

        assertThat(broken.failed.get(2, TimeUnit.MINUTES)).isInstanceOf(OutOfMemoryError.class);
        assertThat(limits.get("db").available()).isEqualTo(1);
        assertThat(limits.get("report").available()).isEqualTo(1);
        assertThat(Call.asked(limits.get("report")).holds()).isTrue();
    }

    @Test
    void threeLevels() {
        TaskLimits limits = limits(
                LimitSettings.of("tiny", 1).withWithin("report"),
                LimitSettings.of("report", 2).withWithin("db"),
                LimitSettings.of("db", 3));
        Call tiny = Call.asked(limits.get("tiny"));
        Call report = Call.asked(limits.get("report"));
        Call waiting = Call.asked(limits.get("tiny"));
        Call db = Call.asked(limits.get("db"));

        assertThat(List.of(tiny.holds(), report.holds(), waiting.holds(), db.holds()))
                .containsExactly(true, true, false, true);
        tiny.giveBack();
        assertThat(waiting.holds()).isTrue();
        List.of(report, waiting, db).forEach(Call::giveBack);
        assertThat(limits.all()).allSatisfy(each -> assertThat(each.available()).isEqualTo(each.permits()));
        assertThat(limits.get("db").completed()).isEqualTo(4);
    }

    @Test
    void aLimitCanComeWhileTheOneAroundItIsInUse() {
        TaskLimits limits = limits(LimitSettings.of("db", 1));
        Call running = Call.asked(limits.get("db"));

        assertThat(limits.add(LimitSettings.of("report", 1).withWithin("DB"))).isTrue();
        assertThat(limits.add(LimitSettings.of("report", 1).withWithin("DB"))).isFalse();
        Call waiting = Call.asked(limits.get("report"));

        assertThat(waiting.holds()).isFalse();
        running.giveBack();
        assertThat(waiting.holds()).isTrue();
    }

    @Test
    void limitsMustNotLieWithinEachOtherOrInNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(
                        LimitSettings.of("a", 1).withWithin("b"),
                        LimitSettings.of("b", 1).withWithin("a"),
                        LimitSettings.of("c", 1)))
                .withMessageContaining("nor lie within each other or within limits that do not exist: [a (")
                .withMessageContaining(", b (")
                .withMessageNotContaining("c (");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(LimitSettings.of("a", 1).withWithin("a")))
                .withMessageContaining("lie within each other");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(LimitSettings.of("a", 1).withWithin("zz")))
                .withMessageContaining("limits that do not exist: [a (")
                .withMessageContaining("within zz");
    }
}
