package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits within each other of which one, or both, have lent permits. */
@Timeout(300)
@Tag("jdk")
class NestedLeaseTests extends LentLimits {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
    void aLeaseThatEndsBetweenTwoLooksKeepsNoPermitOfTheLimitAround(int looks) {
        TaskLimits limits = limits(
                LimitSettings.of("db", 3),
                LimitSettings.of("partner", 2).withClusterPermits(2).withWithin("db"));
        TaskLimit limit = limits.get("partner");
        Lease lease = lent(limit, 2);

        lease.validFor = looks;
        Call atOnce = Call.asked(limit);
        lease.validFor = 0;
        int running = atOnce.holds() ? 1 : 0;
        assertThat(limits.get("db").inUse()).isEqualTo(running);
        assertThat(limit.inUse()).isEqualTo(running);

        Call waiting = Call.asked(limit);
        lease.lends(2, looks);
        running = (atOnce.holds() ? 1 : 0) + (waiting.holds() ? 1 : 0);
        assertThat(limits.get("db").inUse()).isEqualTo(running);
        assertThat(limit.inUse()).isEqualTo(running);

        lease.lends(2);
        assertThat(waiting.holds()).isTrue();
        atOnce.giveBack();
        waiting.giveBack();
        assertThat(limits.get("db").available()).isEqualTo(3);
    }

    @Test
    void callsThatTheLimitAroundHoldsUpAskForNothing() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 2),
                LimitSettings.of("partner", 9).withClusterPermits(9).withWithin("db"));
        TaskLimit limit = limits.get("partner");
        Lease lease = lent(limit, 3);
        Call.asked(limits.get("db"), 2);
        Call.asked(limit, 20);

        assertThat(lease.told).isZero();
        assertThat(lease.wantedSinceLast()).as("no more than fit around").isEqualTo(2);
        assertThat(lease.most()).isEqualTo(2);
    }

    @Test
    void callsThatAreRefusedForTheLimitAroundDoNotCountAsWanted() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 2),
                LimitSettings.of("partner", 9)
                        .withClusterPermits(9)
                        .withWithin("db")
                        .withQueueCapacity(0));
        Lease lease = lent(limits.get("partner"), 3);
        Call.asked(limits.get("db"), 2);
        assertThat(new Call(limits.get("partner")).ask()).isEqualTo(Reason.QUEUE_FULL);

        assertThat(lease.told).isZero();
        assertThat(lease.wantedSinceLast()).isZero();
    }

    @Test
    void theLimitAroundIsToldWhenTheOneWithinHasPermits() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 3).withClusterPermits(3),
                LimitSettings.of("partner", 2).withClusterPermits(2).withWithin("db"));
        Lease around = lent(limits.get("db"), 0);
        Lease within = lent(limits.get("partner"), 0);
        Call call = Call.asked(limits.get("partner"));
        assertThat(within.wantedSinceLast()).isOne();
        assertThat(around.wantedSinceLast()).as("it could not use it yet").isZero();
        int told = around.told;

        within.lend(1);
        assertThat(around.told).isEqualTo(told + 1);
        assertThat(around.wantedSinceLast()).isOne();
        around.lend(1);
        assertThat(call.holds()).isTrue();
    }

    @Test
    void aChangeOfTheNumberOfPermitsIsToldHereAndWithin() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 3).withClusterPermits(3),
                LimitSettings.of("partner", 2).withClusterPermits(2).withWithin("db"));
        Lease around = lent(limits.get("db"), 1);
        Lease within = lent(limits.get("partner"), 1);

        limits.get("partner").setClusterPermits(6);
        assertThat(around.changes).isZero();
        assertThat(within.changes).isOne();
        limits.get("partner").resize(5);
        assertThat(within.changes).isEqualTo(2);
        limits.get("db").resize(2);
        assertThat(around.changes).isOne();
        assertThat(within.changes).isEqualTo(3);
        limits.get("db").setQueueCapacity(4);
        assertThat(around.changes).isOne();
    }

    /** It may end at each look: between the one that finds who is next, and the one that takes the permit. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void aLeaseThatEndsLeavesNobodyElseBesideAFreePermit(int looks) {
        TaskLimits limits = limits(
                LimitSettings.of("db", 1),
                LimitSettings.of("shared", 1).withClusterPermits(2).withWithin("db"),
                LimitSettings.of("local", 1).withWithin("db"));
        Lease lease = lent(limits.get("shared"), 1);
        Call holder = Call.asked(limits.get("db"));
        Call shared = Call.asked(limits.get("shared"));
        Call local = Call.asked(limits.get("local"));

        lease.validFor = looks;
        holder.giveBack();

        assertThat(shared.holds() || local.holds())
                .as("who has the permit of db")
                .isTrue();
        assertThat(shared.holds() && local.holds()).isFalse();
    }

    @Test
    void aCallWithinIsRefusedWhereNobodyLendsToTheLimitAround() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 3).withClusterPermits(3),
                LimitSettings.of("report", 2).withWithin("db"));
        Lease around = lent(limits.get("db"), 0);
        around.refuses = true;
        around.validFor = 0;
        assertThat(new Call(limits.get("report")).ask()).isEqualTo(Reason.NO_LEASE);

        around.lends(3);
        assertThat(Call.asked(limits.get("report")).holds()).isTrue();
    }
}
