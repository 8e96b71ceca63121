package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestClaims.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often a replica asks, by a clock that tests set. An answer comes two milliseconds after its claim. */
class DemandTests extends ClockedShares {

    private static final long THIRD = LEASE.toNanos() / 3;
    private static final long WAY = TimeUnit.MILLISECONDS.toNanos(2);

    private ClockedReplica replica = replica(limit());
    private boolean asked;
    private int exchanges;
    private long otherClaims;

    private ClockedReplica replica(LimitSettings settings) {
        ClusterSettings cluster = new ClusterSettings("shop", LEASE, BEAT, OnFailure.WAIT, null);
        return new ClockedReplica(settings, cluster, timer, () -> nanos, () -> asked = true);
    }

    // traffic

    @ParameterizedTest
    @ValueSource(ints = {0, 100})
    void aLimitWithoutCallsAsksThreeTimesPerLease(int queueCapacity) {
        replica = replica(limit().withQueueCapacity(queueCapacity));
        run(LEASE);
        exchanges = 0;

        run(LEASE.multipliedBy(10));

        assertThat(exchanges).isBetween(29, 30);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 20})
    void aLimitWithFewCallsAsksOnceForEachAndThreeTimesPerLeaseAtMost(int permits) {
        replica = replica(LimitSettings.of("partner", permits).withClusterPermits(permits));
        run(LEASE);
        exchanges = 0;
        for (int i = 0; i < 20; i++) {
            replica.ask();
            run(Duration.ofMillis(300));
            assertThat(replica.end(1)).isOne();
            run(Duration.ofMillis(4_700));
        }
        assertThat(exchanges).isLessThanOrEqualTo(20 + 3 * 10);
    }

    @Test
    void aLimitWithoutAQueueThatRefusesCallsAsksAtTheBeatAtMost() {
        replica = replica(LimitSettings.of("partner", 2).withClusterPermits(2).withQueueCapacity(0));
        other(1, 1);
        run(LEASE);
        assertThat(replica.refusal()).isNotNull();
        run(Duration.ofMillis(10));
        replica.ask();
        exchanges = 0;
        for (int i = 0; i < 1_000; i++) {
            assertThat(replica.refusal()).isNotNull();
            run(Duration.ofMillis(2));
        }
        assertThat(exchanges).isBetween(18, 22);
    }

    // what it asks for

    @Test
    void halfOfWhatNobodyWantsIsLentAheadAsSoonAsItIsKnown() {
        exchange();
        assertThat(replica.share.untilClaim()).as("it asks for it at once").isZero();
        exchange();
        asked = false;

        assertThat(replica.limit.lent()).isEqualTo(10);
        assertThat(replica.ask().isRunning()).isTrue();
        assertThat(asked).as("without asking anybody").isFalse();
    }

    @Test
    void nothingIsAskedForAheadWhileNoShareGrows() {
        engine.loseData();
        exchange();

        assertThat(replica.share.untilClaim()).isPositive();
    }

    @Test
    void aShareThatHasShrunkIsToldAtOnce() {
        replica.asks(PERMITS);
        settle();
        other(0, 2 * PERMITS);
        replica.end(PERMITS);

        exchange();
        assertThat(replica.share.untilClaim()).isZero();
        exchange();
        assertThat(engine.lent("partner")).as("free for the other").isZero();
    }

    @Test
    void aReplicaWithoutCallsLeavesAllToOthersAndAsksAtOnceForItsFirstCall() {
        settle();
        run(LEASE);
        assertThat(engine.lent("partner")).isZero();
        asked = false;

        Request call = replica.ask();
        assertThat(asked).isTrue();
        exchange();
        assertThat(call.isRunning()).isTrue();
    }

    @Test
    void callsThatBeginAndEndBetweenTwoClaimsKeepTheShare() {
        settle();
        for (int i = 0; i < 20; i++) {
            replica.ask();
            assertThat(replica.end(1)).isOne();
            run(Duration.ofSeconds(1));
        }

        assertThat(replica.limit.lent()).isEqualTo(10);
    }

    @Test
    void aLimitWithoutAQueueKeepsItsShare() {
        replica = replica(limit().withQueueCapacity(0));
        assertThat(replica.refusal()).isEqualTo(Reason.QUEUE_FULL);
        exchange();
        assertThat(replica.ask().isRunning())
                .as("the next after the call that was refused")
                .isTrue();
        replica.end(1);

        run(LEASE.multipliedBy(2));

        assertThat(replica.limit.lent()).isPositive();
    }

    @Test
    void permitsAreUsedHoweverLongTheirAnswerTakes() {
        replica.asks(3);

        assertThat(answer(replica.share.claim(), LEASE.toNanos() / 2)).isTrue();

        assertThat(replica.running()).isEqualTo(3);
    }

    @Test
    void aSmallerNumberIsFairBeforeTheEngineKnowsIt() {
        replica = replica(LimitSettings.of("partner", 8).withClusterPermits(PERMITS));
        other(10, 30);
        replica.asks(30);
        exchange();
        assertThat(replica.share.claim().asks()).isEqualTo(8);

        replica.limit.setClusterPermits(12);

        assertThat(replica.share.claim().asks()).isEqualTo(6);
    }

    // the pace

    @Test
    void itAsksAtTheBeatWhileCallsWait() {
        other(15, 15);
        replica.asks(10);
        settle();

        assertThat(replica.share.untilClaim()).isEqualTo(BEAT.toNanos());
        assertThat(exchangesIn(Duration.ofSeconds(1))).isBetween(9, 10);
    }

    @Test
    void itAsksAtTheBeatAfterAFailure() {
        settle();
        engine.fail();
        nanos += THIRD;
        exchange();

        assertThat(replica.share.untilClaim()).isEqualTo(BEAT.toNanos());
        assertThat(exchangesIn(Duration.ofSeconds(1))).isBetween(9, 10);
        engine.heal();
        exchange();
        assertThat(replica.share.untilClaim()).isEqualTo(THIRD);
    }

    @Test
    void itAsksAtTheBeatWhileItHasMoreThanIsFairAndOthersAreHungry() {
        replica.asks(PERMITS);
        settle();
        other(0, 20);
        run(LEASE.dividedBy(3));
        exchange();

        assertThat(replica.limit.lent()).isEqualTo(10);
        assertThat(replica.share.untilClaim()).isEqualTo(BEAT.toNanos());
    }

    /** They wait for what a third one has. */
    @Test
    void othersThatAreHungryAreNoReasonToAskForWhoHasNothingToGive() {
        other(PERMITS, 40);
        run(LEASE.multipliedBy(2));
        assertThat(replica.limit.lent()).isZero();

        assertThat(exchangesIn(LEASE.multipliedBy(3))).isBetween(8, 9);
    }

    @Test
    void itAsksAtTheBeatWhileFarMoreIsHeldThanIsFair() {
        replica.asks(15);
        settle();
        other(0, 0); // which wants nothing
        exchange();
        settle();
        replica.end(15);

        assertThat(replica.share.untilClaim()).isEqualTo(BEAT.toNanos());
        run(Duration.ofSeconds(1));
        assertThat(replica.limit.lent()).isLessThan(15);
        assertThat(replica.share.untilClaim()).isGreaterThan(BEAT.toNanos());
    }

    @Test
    void whoHasTheLastPermitGivesItBackAtTheBeatAfterItsCall() {
        replica = replica(LimitSettings.of("partner", 1).withClusterPermits(1));
        other(0, 0);
        replica.ask();
        settle();
        assertThat(replica.share.untilClaim()).as("looks, and asks nothing").isPositive();
        assertThat(exchangesIn(Duration.ofSeconds(1))).isZero();

        assertThat(replica.end(1)).isOne();
        run(BEAT);

        assertThat(engine.members("partner"))
                .filteredOn(each -> each.member().equals("shop"))
                .extracting(Answer.Other::holds)
                .containsExactly(0);
    }

    @Test
    void itAsksAtOnceWhenSharesGrowAgain() {
        settle();
        engine.loseData();
        nanos += THIRD;
        exchange();
        run(Duration.ofSeconds(1));
        exchange(); // not at a third of the lease
        run(Duration.ofMillis(8_900));
        assertThat(replica.limit.lent()).isZero();
        exchanges = 0;
        run(Duration.ofMillis(200));
        assertThat(exchanges).as("before a third of the lease is over").isPositive();
        replica.ask();
        run(Duration.ofMillis(5));
        assertThat(replica.running()).isEqualTo(replica.calls());
    }

    // calls that find no permit

    @Test
    void callsDoNotAskOfAReplicaThatHasAll() {
        replica.asks(PERMITS);
        settle();
        asked = false;

        replica.asks(100);

        assertThat(asked).isFalse();
        assertThat(replica.share.untilClaim()).isEqualTo(THIRD);
    }

    @Test
    void aCallThatComesWhileTheClaimIsOnItsWayAsksAgain() {
        settle();
        Claim claim = replica.share.claim();
        asked = false;
        replica.asks(15);
        assertThat(asked).isTrue();
        assertThat(answer(claim, WAY)).isTrue();

        assertThat(replica.share.untilClaim()).isZero();
    }

    @Test
    void aCallThatComesWhileTheClaimIsOnItsWayAsksNotIfThereIsNothing() {
        other(PERMITS, PERMITS);
        replica.ask();
        Claim claim = replica.share.claim();
        replica.ask();
        assertThat(answer(claim, WAY)).isTrue();

        assertThat(replica.share.untilClaim()).isEqualTo(BEAT.toNanos() - WAY);
    }

    /** At this moment it knows of nothing more, and does not look again for a third of the lease. */
    @Test
    void aLimitThatMayRunMoreCallsAsksAtOnce() {
        replica = replica(LimitSettings.of("partner", 3).withClusterPermits(PERMITS));
        replica.asks(8);
        settle();
        assertThat(replica.share.untilClaim()).isEqualTo(THIRD);
        asked = false;

        replica.limit.resize(10);

        assertThat(asked).isTrue();
        exchange();
        assertThat(replica.running()).isEqualTo(replica.calls());
    }

    /** Another replica that claims this, and lives for long. */
    private void other(int holds, int wants) {
        engine.answer(holding("zz", replica.limit.clusterPermits(), ++otherClaims, holds, wants));
    }

    /** As many exchanges as it needs until it has nothing to tell, by a clock that stands. */
    private void settle() {
        for (int i = 0; i < 10 && replica.share.untilClaim() <= 0; i++) {
            answer(replica.share.claim(), 0);
        }
    }

    private void exchange() {
        exchanges++;
        answer(replica.share.claim(), 0);
    }

    /** Returns whether there was an answer. It comes so many nanoseconds after the claim. */
    private boolean answer(Claim claim, long way) {
        try {
            Answer answer = engine.exchange(List.of(claim)).getFirst();
            pass(Duration.ofNanos(way));
            return replica.share.answered(claim, answer, nanos - way);
        } catch (Exception failure) {
            replica.share.failed();
            return false;
        }
    }

    private int exchangesIn(Duration time) {
        exchanges = 0;
        run(time);
        return exchanges;
    }

    /** Time passes by the millisecond; it claims when it wants to. */
    private void run(Duration time) {
        long end = nanos + time.toNanos();
        while (end - nanos > 0) {
            replica.share.look();
            if (replica.share.untilClaim() > 0) {
                pass(Duration.ofMillis(1));
                continue;
            }
            exchanges++;
            if (!answer(replica.share.claim(), WAY)) {
                pass(Duration.ofMillis(1));
            }
        }
    }
}
