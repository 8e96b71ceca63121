package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Leases, goodbyes and the numbers in force, of replicas that reach the engine. */
class ClusterShareTests extends ClockedShares {

    // the lease

    @Test
    void noCallBeginsWhenTheLeaseIsOverByTheClock() {
        a.runs(3);
        a.asks(30);
        a.exchange();
        a.exchange();
        assertThat(a.running()).isEqualTo(PERMITS);

        pass(VALID.minusNanos(1));
        a.end(1);
        assertThat(a.running()).isEqualTo(PERMITS);
        pass(Duration.ofNanos(1));
        a.end(1);

        assertThat(a.running()).as("nobody has looked at the clock yet").isEqualTo(PERMITS - 1);
        assertThat(a.ask().isRunning()).isFalse();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        a.exchange();
        assertThat(a.running()).isEqualTo(PERMITS);
    }

    @Test
    void anAnswerThatComesAfterItsLeaseIsNone() throws Exception {
        a.runs(3);
        long sent = nanos;
        Claim claim = a.share.claim();
        Answer answer = engine.exchange(List.of(claim)).get(0);
        pass(VALID);

        assertThat(a.share.answered(claim, answer, sent)).isFalse();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(a.ask().isRunning()).isFalse();
    }

    @Test
    void aLeaseThatIsOverIsAskedForAtOnce() {
        learn(a);
        assertThat(a.share.untilClaim()).isPositive();
        pass(LEASE);

        a.share.look();

        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(a.limit.cluster().since()).isZero();
        assertThat(a.share.untilClaim()).isZero();
    }

    // the number of permits

    @Test
    void theLeastNumberIsInForceAndTheMemberThatHoldsItBackCanBeSeen() {
        a.exchange();
        b.exchange();
        b.limit.setClusterPermits(6);
        b.exchange();
        a.asks(30);
        a.exchange();
        ClusterState state = a.limit.cluster();
        assertThat(state.permits()).isEqualTo(6);
        assertThat(state.members())
                .extracting(Member::name, Member::permits)
                .containsExactly(tuple("a", 20), tuple("b", 6));
        assertThat(a.running()).isLessThanOrEqualTo(6);

        b.limit.setClusterPermits(30);
        b.exchange();
        a.exchange();
        assertThat(a.limit.cluster().permits()).as("its own").isEqualTo(20);
        a.limit.setClusterPermits(30);
        assertThat(a.limit.cluster().permits()).as("nobody has said more yet").isEqualTo(20);
        a.exchange();
        assertThat(a.limit.cluster().permits()).isEqualTo(30);
    }

    @Test
    void itBorrowsNoMoreThanThisReplicaMayRun() {
        Replica d = new Replica("d", LimitSettings.of("partner", 3).withClusterPermits(PERMITS), OnFailure.WAIT, null);
        d.asks(30);
        d.exchange();
        assertThat(d.running()).isEqualTo(3);
        assertThat(engine.lent("partner")).isEqualTo(3);
        d.limit.resize(2);
        d.exchange();
        d.end(1);
        d.exchange();
        assertThat(engine.lent("partner")).isEqualTo(2);
        d.limit.resize(5);
        assertThat(d.running()).as("the engine knows of two").isEqualTo(2);
        d.exchange();
        assertThat(d.running()).isEqualTo(5);
    }

    // the end, and a new beginning

    @Test
    void aGoodbyeKeepsWhatRunsAndLeavesTheRestToOthers() {
        a.runs(PERMITS);
        a.end(13);
        a.asks(14);
        Claim claim = a.share.goodbye();
        assertThat(claim)
                .extracting(Claim::holds, Claim::wants, Claim::asks, Claim::lease)
                .containsExactly(20, 0, 0, LEASE);
        a.end(18);
        assertThat(a.running()).as("no more begin").isEqualTo(2);
        claim = a.share.goodbye();
        assertThat(claim.holds()).isEqualTo(2);
        a.answer(claim);
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);

        b.asks(30);
        b.exchange();
        b.exchange();
        assertThat(b.running()).isEqualTo(18);
        pass(LEASE);
        b.exchange();
        assertThat(b.running()).isEqualTo(PERMITS);
    }

    @Test
    void afterAGoodbyeItIsNew() {
        a.exchange();
        a.exchange();
        assertThat(a.share.claim()).extracting(Claim::number, Claim::last).containsExactly(3L, 2L);
        a.share.goodbye();
        pass(Duration.ofHours(1));

        assertThat(a.share.claim())
                .extracting(Claim::number, Claim::last, Claim::running)
                .containsExactly(5L, 0L, Duration.ZERO);
    }

    @Test
    void aClaimTellsTheLastAnswerAndItsAge() {
        assertThat(a.share.claim())
                .extracting(Claim::number, Claim::last, Claim::age)
                .containsExactly(1L, 0L, Duration.ZERO);
        a.exchange();
        pass(BEAT);
        assertThat(a.share.claim())
                .extracting(Claim::number, Claim::last, Claim::age)
                .containsExactly(3L, 2L, BEAT);
        a.share.failed();
        pass(BEAT);

        assertThat(a.share.claim())
                .extracting(Claim::number, Claim::last, Claim::age)
                .containsExactly(4L, 2L, BEAT.multipliedBy(2));
    }

    // what is seen from outside

    @Test
    void itsStateSaysWhatIsKnown() {
        ClusterState state = a.limit.cluster();
        assertThat(state)
                .isEqualTo(new ClusterState(
                        Lending.LOST,
                        Duration.ZERO,
                        20,
                        0,
                        0,
                        Duration.ZERO,
                        List.of(new Member("a", 0, 0, 20, Duration.ZERO, Duration.ZERO))));
        c.exchange();
        pass(Duration.ofSeconds(1));
        a.asks(3);
        a.exchange();
        pass(Duration.ofSeconds(1));
        a.exchange();
        pass(Duration.ofSeconds(1));
        state = a.limit.cluster();
        assertThat(state.lending()).isEqualTo(Lending.LENT);
        assertThat(state.since()).as("lent all the time").isEqualTo(Duration.ofSeconds(2));
        assertThat(state.leaseLeft()).isEqualTo(Duration.ofSeconds(8));
        assertThat(state.members()).extracting(Member::name).containsExactly("a", "c");
        assertThat(state.members().get(0))
                .extracting(Member::holds, Member::wants)
                .containsExactly(a.limit.lent(), 3);
    }
}
