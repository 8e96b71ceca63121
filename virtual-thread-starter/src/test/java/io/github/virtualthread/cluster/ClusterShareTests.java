package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.test.MemoryEngine;
import io.github.virtualthread.timer.TaskTimer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas that share a limit, by a clock that tests set: nothing happens but what they do. */
@Timeout(300)
class ClusterShareTests {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration VALID = Duration.ofSeconds(9);
    private static final Duration STEP = Duration.ofMillis(200);
    private static final Duration BEAT = Duration.ofMillis(100);
    private static final int PERMITS = 20;

    private final TaskTimer timer = new TaskTimer("timer");
    private final MemoryEngine engine = new MemoryEngine(false);
    private long nanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20); // overflows soon
    private Duration beat = BEAT;
    private final Replica a = new Replica("a");
    private final Replica b = new Replica("b");
    private final Replica c = new Replica("c");

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    // the eight rules of the design

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
    void aLeaseThatIsOverIsNoProofThatTheEngineIsAway() {
        a.runs(3);
        pass(Duration.ofMinutes(1));

        a.share.look();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(a.share.isAway()).isFalse();
        assertThat(a.share.untilClaim()).as("it asks at once").isZero();
        for (int i = 0; i < 4; i++) {
            assertThat(a.share.untilLook()).isEqualTo(STEP.toNanos());
            pass(STEP);
            a.share.look();
        }
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(a.share.isAway()).isFalse();

        pass(STEP);
        a.share.look();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        assertThat(a.share.isAway()).isTrue();
        assertThat(a.share.untilLook()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aWaitThatEndsLateCountsForNothing() {
        a.runs(3);
        pass(LEASE);
        a.share.look();
        for (int i = 0; i < 50; i++) {
            pass(i % 5 == 4 ? STEP.multipliedBy(3) : STEP);
            a.share.look();
            a.share.look(); // too early: does not count
        }
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(a.share.isAway()).isFalse();
    }

    @Test
    void whoComesBackClaimsOnlyWhatRuns() {
        Replica d = new Replica("d", limit(), OnFailure.WAIT, null);
        Replica e = new Replica("e", limit(), OnFailure.WAIT, null);
        e.exchange();
        d.runs(PERMITS);
        d.end(16);
        e.asks(30);
        pass(Duration.ofMinutes(1));
        e.exchange();
        e.exchange();
        assertThat(e.running()).isEqualTo(PERMITS);

        Claim claim = d.share.claim();
        assertThat(claim.holds()).isEqualTo(4);
        d.answer(claim);
        assertThat(d.limit.lent()).as("others have all").isZero();
        List<Request> waiting = d.asks(1);
        d.end(4);
        assertThat(waiting.get(0).isRunning()).isFalse();
        e.exchange();
        e.end(10);
        e.exchange();
        d.exchange();
        assertThat(waiting.get(0).isRunning()).isTrue();
        assertThat(d.running() + e.running()).isLessThanOrEqualTo(PERMITS);
    }

    @Test
    void aNewReplicaWaitsForALeaseWhereAllOthersHaveDied() {
        a.runs(PERMITS);
        pass(Duration.ofMinutes(1));
        b.asks(30);

        b.exchange();
        b.exchange();

        assertThat(b.running()).as("the data may be old").isZero();
        pass(LEASE.dividedBy(2));
        b.exchange();
        pass(LEASE.dividedBy(2));
        b.exchange();
        assertThat(b.running()).isEqualTo(PERMITS);
    }

    @Test
    void whoWasAloneClaimsWhatItHasAndStopsNobody() {
        a.runs(3);
        learn(a, b);
        lose(a);
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        a.asks(7);
        assertThat(a.running()).isEqualTo(10);
        b.asks(30);

        b.exchange();
        assertThat(b.running())
                .as("the local share of the other is kept for it")
                .isEqualTo(10);
        a.exchange();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.LENT);
        assertThat(a.limit.lent()).as("as it was alone, and no more").isEqualTo(10);
        a.end(6);
        a.exchange();
        a.exchange();
        b.exchange();
        assertThat(b.running()).as("shares grow").isEqualTo(16);
        assertThat(a.limit.lent() + b.limit.lent()).isLessThanOrEqualTo(PERMITS);
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
    void theLeaseBeginsWhenItIsAskedFor() throws Exception {
        a.asks(3);
        long sent = nanos;
        Claim claim = a.share.claim();
        Answer answer = engine.exchange(List.of(claim)).get(0);
        pass(VALID.minusMillis(1));

        assertThat(a.share.answered(claim, answer, sent)).isTrue();
        assertThat(a.running()).isEqualTo(3);
        assertThat(a.limit.cluster().leaseLeft()).isEqualTo(Duration.ofMillis(1));
        pass(Duration.ofMillis(1));
        assertThat(a.limit.cluster().leaseLeft()).isZero();
    }

    @Test
    void permitsAreUsedHoweverLongTheirAnswerTakes() throws Exception {
        a.asks(3);
        long sent = nanos;
        Claim claim = a.share.claim();
        Answer answer = engine.exchange(List.of(claim)).get(0);
        pass(LEASE.dividedBy(2));
        assertThat(a.share.answered(claim, answer, sent)).isTrue();
        assertThat(a.running()).isEqualTo(3);
    }

    /** Each beat, the replica whose turn begins asks before the other has given the permit up. */
    @ParameterizedTest
    @ValueSource(longs = {100, 500, 1_000})
    void whatCannotBeDividedGoesRound(long millis) {
        beat = Duration.ofMillis(millis);
        a.limit.setClusterPermits(1);
        b.limit.setClusterPermits(1);
        a.asks(1_000);
        b.asks(1_000);
        int begunByA = 0;
        int begunByB = 0;
        for (int i = 0; i < 200; i++) {
            a.exchange();
            b.exchange();
            begunByA += a.end(10);
            begunByB += b.end(10);
            pass(beat);
        }
        assertThat(begunByA).isGreaterThan(50);
        assertThat(begunByB).isGreaterThan(50);
    }

    @Test
    void aShareThatHasShrunkIsToldAtOnce() {
        a.asks(40);
        a.exchange();
        a.end(20);
        a.end(20);
        assertThat(a.limit.lent()).isEqualTo(PERMITS);
        b.asks(40);
        b.exchange();
        b.exchange();
        assertThat(b.running()).isZero();
        a.end(PERMITS);

        a.exchange();
        assertThat(a.share.untilClaim()).isZero();
        a.exchange();
        assertThat(engine.lent("partner")).as("free for the other").isZero();
        b.exchange();
        b.exchange();
        assertThat(b.running()).isEqualTo(PERMITS);
    }

    @Test
    void halfOfWhatNobodyWantsIsLentAhead() {
        a.exchange();
        assertThat(a.share.untilClaim()).as("it asks for it at once").isZero();
        a.exchange();
        assertThat(a.limit.lent()).isEqualTo(10);
        b.exchange();
        b.exchange();
        assertThat(b.limit.lent()).isEqualTo(5);
        int asked = b.asked;

        assertThat(b.ask().isRunning()).as("without asking anybody").isTrue();
        assertThat(b.asked).isEqualTo(asked);
        assertThat(engine.lent("partner")).isEqualTo(15);
    }

    // what makes it ask, and what does not

    @Test
    void aCallThatFindsNoPermitAsksAtOnceUntilThereIsNoMore() {
        a.exchange();
        a.exchange();
        int asked = a.asked;
        a.asks(11);
        assertThat(a.asked).isEqualTo(asked + 1);
        a.exchange();
        assertThat(a.running()).isEqualTo(11);
        a.asks(100);
        a.exchange();
        assertThat(a.running()).isEqualTo(PERMITS);
        asked = a.asked;
        a.asks(100);
        assertThat(a.asked).as("it has all").isEqualTo(asked);
        assertThat(a.share.untilClaim()).isEqualTo(LEASE.toNanos() / 3);
    }

    @Test
    void aReplicaThatIsToBeLentNoMoreAsksAtTheBeatOnly() {
        a.runs(PERMITS);
        b.asks(1);
        b.exchange();
        b.exchange();
        int asked = b.asked;
        b.asks(1_000);
        assertThat(b.asked).isEqualTo(asked);
        assertThat(b.share.untilClaim()).isEqualTo(BEAT.toNanos());
        a.end(PERMITS);
        a.exchange();
        pass(BEAT);
        assertThat(b.share.untilClaim()).isZero();
    }

    @Test
    void anEngineThatFailsIsAskedAtTheBeatOnly() {
        engine.fail();
        a.asks(10);
        a.exchange();
        int asked = a.asked;
        a.asks(1_000);
        assertThat(a.asked).isEqualTo(asked);
        assertThat(a.share.untilClaim()).isEqualTo(BEAT.toNanos());

        engine.heal();
        pass(BEAT);
        a.exchange();
        assertThat(a.running()).isEqualTo(PERMITS);
    }

    @Test
    void anEngineThatFailsAfterTheLeaseIsAskedAtTheBeatOnly() {
        a.runs(3);
        engine.fail();
        pass(LEASE);
        a.share.look();
        a.exchange();
        assertThat(a.share.untilClaim()).isEqualTo(BEAT.toNanos());
        int asked = a.asked;
        a.asks(100);
        assertThat(a.asked).isEqualTo(asked);
    }

    @Test
    void learningIsNoReasonToAskAgainAndAgain() {
        a.asks(15);
        a.exchange();
        b.exchange();
        engine.loseData();
        b.asks(15);
        for (Replica each : List.of(a, b, a, b)) {
            each.exchange();
        }
        assertThat(a.running()).isEqualTo(15);
        assertThat(b.running()).isZero();
        a.asks(10);
        b.asks(10);
        assertThat(a.share.untilClaim()).isEqualTo(BEAT.toNanos());
        assertThat(b.share.untilClaim()).isEqualTo(BEAT.toNanos());
    }

    @Test
    void anIdleReplicaLeavesAllToOthersAndAsksAtOnceForItsFirstCall() {
        a.exchange();
        a.exchange();
        assertThat(a.limit.lent()).isEqualTo(10);
        pass(LEASE.dividedBy(3));
        a.exchange();
        assertThat(a.limit.lent()).isEqualTo(10);
        pass(BEAT);
        a.exchange();
        assertThat(a.limit.lent()).isZero();
        assertThat(engine.lent("partner")).isZero();
        assertThat(a.share.untilClaim()).isEqualTo(LEASE.toNanos() / 3);
        int asked = a.asked;

        Request call = a.ask();
        assertThat(a.asked).isEqualTo(asked + 1);
        a.exchange();
        assertThat(call.isRunning()).isTrue();
    }

    @Test
    void aCallAfterAFailedExchangeOfAnIdleReplicaWaitsForABeatAtMost() {
        a.exchange();
        pass(LEASE.dividedBy(2));
        a.exchange();
        assertThat(a.limit.lent()).isZero();
        engine.fail();
        a.exchange();
        engine.heal();
        a.ask();

        assertThat(a.share.untilClaim()).isLessThanOrEqualTo(BEAT.toNanos());
    }

    @Test
    void callsBetweenTwoBeatsKeepTheShare() {
        a.exchange();
        a.exchange();
        for (int i = 0; i < 20; i++) {
            a.ask();
            assertThat(a.end(1)).isOne();
            pass(Duration.ofSeconds(1));
            a.exchange();
        }
        assertThat(a.limit.lent()).isEqualTo(10);
    }

    @Test
    void aLimitWithoutAQueueKeepsItsShare() {
        Replica d = new Replica("d", limit().withQueueCapacity(0), OnFailure.WAIT, null);
        assertThat(d.refusal()).isEqualTo(Reason.QUEUE_FULL);
        d.exchange();
        assertThat(d.limit.lent()).as("for the call that was refused").isPositive();
        assertThat(d.ask().isRunning()).isTrue();
        d.end(1);
        d.exchange();
        for (int i = 0; i < 3; i++) {
            pass(LEASE.dividedBy(2));
            d.exchange();
        }
        assertThat(d.limit.lent()).isPositive();
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
    void aSmallerNumberIsToldAtOnceAndKeptAtOnce() {
        a.runs(PERMITS);
        a.asks(10);
        a.limit.setClusterPermits(5);
        assertThat(a.limit.permits()).isEqualTo(5);
        a.end(16);
        assertThat(a.running()).isEqualTo(5);
        a.exchange();
        assertThat(engine.members("partner")).extracting(Answer.Other::permits).containsExactly(5);
        assertThat(engine.lent("partner")).isEqualTo(5);
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

    @Test
    void aSmallerNumberIsFairBeforeTheEngineKnowsIt() {
        Replica d = new Replica("d", LimitSettings.of("partner", 8).withClusterPermits(PERMITS), OnFailure.WAIT, null);
        a.asks(30);
        d.asks(30);
        a.exchange();
        d.exchange();
        assertThat(d.share.claim().asks()).isEqualTo(8);
        d.limit.setClusterPermits(12);
        assertThat(d.share.claim().asks()).isEqualTo(6);
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
    void aGoodbyeWithoutCallsIsForgottenAtOnce() {
        a.exchange();
        a.exchange();
        Claim claim = a.share.goodbye();
        assertThat(claim.lease()).isZero();
        assertThat(a.answer(claim)).isFalse();
        assertThat(engine.members("partner")).isEmpty();
        assertThat(a.ask().isRunning()).isFalse();

        a.exchange();
        assertThat(a.running()).as("it begins again").isOne();
    }

    @Test
    void afterAGoodbyeItIsNew() {
        a.exchange();
        a.exchange();
        assertThat(a.share.claim()).extracting(Claim::number, Claim::last).containsExactly(3L, 2L);
        a.share.goodbye();

        assertThat(a.share.claim()).extracting(Claim::number, Claim::last).containsExactly(5L, 0L);
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

    @Test
    void aReplicaThatWasAloneAndStoppedCanBeAloneAgain() {
        a.runs(3);
        lose(a);
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        a.share.goodbye();
        a.share.failed();
        pass(Duration.ofHours(1));
        a.share.look();
        engine.fail();
        a.exchange();
        patience(a);
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.ALONE);
    }

    // without the engine

    @Test
    void aloneEachUsesThePartThatTheEngineHasRecorded() {
        learn(a, b, c);
        int sum = 0;
        for (Replica each : List.of(a, b, c)) {
            lose(each);
            sum += each.limit.lent();
        }
        assertThat(List.of(a.limit.lent(), b.limit.lent(), c.limit.lent())).containsExactly(7, 7, 6);
        assertThat(sum).isEqualTo(PERMITS);
    }

    /** Each reaches the engine alone for a moment, and loses it again. */
    @Test
    void localSharesStayAPartOfThePermitsHoweverTheEngineComesAndGoes() {
        learn(a, b, c);
        List<Replica> all = List.of(a, b, c);
        for (Replica each : all) {
            each.asks(PERMITS);
        }
        for (int round = 0; round < 10; round++) {
            for (Replica each : all) {
                lose(each);
            }
            for (Replica each : all) {
                each.exchange();
                pass(Duration.ofSeconds(1));
                each.end(PERMITS);
                each.asks(PERMITS);
                lose(each);
                assertThat(all.stream()
                                .mapToInt(replica -> replica.limit.lent())
                                .sum())
                        .isLessThanOrEqualTo(PERMITS);
            }
        }
        assertThat(all).allMatch(each -> each.limit.cluster().lending() == Lending.ALONE);
    }

    @Test
    void aloneItUsesNothingIfTheEngineHasNotRecordedItsLocalShareYet() {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, 2);
        d.exchange();

        lose(d);

        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        assertThat(d.limit.lent()).isZero();
    }

    @Test
    void theLocalShareIsAPartOfTheConfiguredReplicasAtLeast() {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, 5);
        learn(d, a);

        lose(d);

        assertThat(d.limit.lent()).isEqualTo(4);
    }

    @Test
    void aloneItUsesNoMoreThanTheNumberInForce() {
        b.limit.setClusterPermits(5);
        learn(b, a);
        lose(a);
        assertThat(a.limit.lent()).isEqualTo(3);
        Replica d =
                new Replica("d", LimitSettings.of("partner", 2).withClusterPermits(PERMITS), OnFailure.LOCAL_SHARE, 2);
        neverReached(d);
        d.asks(10);
        assertThat(d.running()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"3, 6", "20, 1", "21, 0", "100, 0"})
    void whoHasNeverReachedTheEngineUsesItsPartOfTheReplicas(int replicas, int part) {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, replicas);
        d.asks(10);
        engine.fail();
        d.exchange();
        assertThat(d.running()).isZero();
        patience(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        assertThat(d.limit.lent()).isEqualTo(part);
        assertThat(d.running()).isEqualTo(part);
    }

    @Test
    void theFirstAnswerMayTakeAsLongAsALease() {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, 2);
        d.asks(10);
        Claim opensTheConnection = d.share.claim();
        patience(d);
        assertThat(d.share.isAway()).isFalse();
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(d.running()).as("the others have all permits").isZero();
        assertThat(d.answer(opensTheConnection)).isTrue();
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LENT);

        Replica e = new Replica("e", limit(), OnFailure.LOCAL_SHARE, 2);
        e.share.claim();
        for (int i = 0; i < 5; i++) {
            assertThat(e.share.isAway()).isFalse();
            nanos += LEASE.toNanos() / 5;
            e.share.look();
        }
        assertThat(e.share.isAway()).isTrue();
        assertThat(e.limit.cluster().lending()).isEqualTo(Lending.ALONE);
    }

    @Test
    void whoHasNeverReachedTheEngineAndDoesNotKnowTheReplicasWaits() {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, null);
        neverReached(d);
        Request call = d.ask();
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(call.isRunning()).isFalse();
        engine.heal();
        d.exchange();
        assertThat(call.isRunning()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = OnFailure.class,
            names = {"WAIT", "REJECT"})
    void nothingBeginsWithoutTheEngine(OnFailure onFailure) {
        Replica d = new Replica("d", limit(), onFailure, 2);
        Request early = d.ask();
        assertThat(d.refusal()).as("nobody has been asked yet").isNull();
        neverReached(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(d.share.isAway()).isTrue();
        assertThat(d.refusal()).isEqualTo(onFailure == OnFailure.REJECT ? Reason.NO_LEASE : null);
        assertThat(early.isRunning()).isFalse();
        assertThat(early.rejected).isNotDone();

        engine.heal();
        d.exchange();
        assertThat(early.isRunning()).isTrue();
        assertThat(d.share.isAway()).isFalse();
        assertThat(d.refusal()).isNull();
    }

    @Test
    void theSettingOfTheLimitComesFirst() {
        Replica d = new Replica("d", limit().withOnFailure(OnFailure.REJECT), OnFailure.WAIT, null);
        neverReached(d);
        assertThat(d.refusal()).isEqualTo(Reason.NO_LEASE);
        Replica e = new Replica("e", limit(), OnFailure.WAIT, null);
        neverReached(e);
        assertThat(e.refusal()).isNull();
    }

    @Test
    void nothingIsRejectedWhileTheLeaseHolds() {
        Replica d = new Replica("d", limit(), OnFailure.REJECT, null);
        d.asks(30);
        d.exchange();
        engine.fail();
        pass(VALID.minusMillis(1));
        d.exchange();
        assertThat(d.refusal()).isNull();
        assertThat(d.share.isAway()).isFalse();
        pass(Duration.ofMillis(1));
        d.exchange();
        assertThat(d.refusal()).isEqualTo(Reason.NO_LEASE);
    }

    @Test
    void anExchangeThatAPauseHasBrokenDoesNotCount() {
        Replica d = new Replica("d", limit(), OnFailure.REJECT, null);
        d.asks(3);
        d.exchange();
        d.share.claim();
        pass(Duration.ofMinutes(1));
        d.share.failed(); // the socket has timed out meanwhile
        assertThat(d.share.isAway()).isFalse();
        assertThat(d.refusal()).isNull();
        d.share.look();
        assertThat(d.share.untilClaim()).as("it asks at once").isZero();
    }

    @Test
    void aLateAnswerDoesNotEndALocalShare() throws Exception {
        learn(a);
        lose(a);
        engine.heal();
        long sent = nanos;
        Claim claim = a.share.claim();
        Answer answer = engine.exchange(List.of(claim)).get(0);
        pass(VALID);
        assertThat(a.share.answered(claim, answer, sent)).isFalse();
        assertThat(a.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        assertThat(a.ask().isRunning()).isTrue();
    }

    @Test
    void aSmallerNumberIsFairAlsoAlone() {
        learn(a, b);
        lose(a);
        lose(b);
        assertThat(a.limit.lent() + b.limit.lent()).isEqualTo(PERMITS);
        a.limit.setClusterPermits(6);
        b.limit.setClusterPermits(6);

        engine.fail();
        a.exchange();
        b.exchange();

        assertThat(a.limit.lent() + b.limit.lent()).isEqualTo(6);
    }

    // a share that is taken back

    @Test
    void whatADeadReplicaHasHeldIsFreeAtOnce() {
        a.runs(PERMITS);
        b.exchange();
        b.asks(30);
        b.exchange();
        assertThat(b.running()).isZero();

        b.limit.takeBack("a");

        assertThat(engine.exchanges().getLast().getFirst())
                .extracting(Claim::member, Claim::number, Claim::holds, Claim::lease)
                .containsExactly("a", Long.MAX_VALUE, 0, Duration.ZERO);
        b.exchange();
        assertThat(b.limit.cluster().members()).extracting(Member::name).containsExactly("b");
        b.exchange();
        assertThat(b.running()).isEqualTo(PERMITS);
    }

    @Test
    void onlyAnotherReplicaThatIsKnownCanBeTakenBack() {
        learn(a, b);
        int exchanges = engine.exchanges().size();

        assertThatThrownBy(() -> a.limit.takeBack("x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Limit 'partner' has no other replica 'x'. Its replicas are [a, b]");
        assertThatThrownBy(() -> a.limit.takeBack("a"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Limit 'partner' has no other replica 'a'. Its replicas are [a, b]");
        assertThat(engine.exchanges()).hasSize(exchanges);
    }

    @Test
    void aReplicaThatLivesClaimsWhatItHasAndNobodyGrowsForALease() {
        learn(a, b);
        a.asks(12);
        a.exchange();
        a.exchange();
        int lent = a.limit.lent();
        b.limit.takeBack("a");

        a.exchange();
        b.asks(30);
        b.exchange();
        b.exchange();

        assertThat(a.limit.lent()).isEqualTo(lent);
        assertThat(a.limit.lent() + b.limit.lent()).isLessThanOrEqualTo(PERMITS);
        assertThat(engine.lent("partner")).isLessThanOrEqualTo(PERMITS);
        pass(LEASE.dividedBy(2));
        a.exchange();
        b.exchange();
        a.end(12);
        pass(LEASE.dividedBy(2));
        a.exchange();
        b.exchange();
        b.exchange();
        assertThat(b.running()).as("a lease later").isGreaterThan(lent);
    }

    @Test
    void nothingIsTakenBackWhileTheEngineIsAway() {
        learn(a, b);
        engine.fail();

        assertThatThrownBy(() -> a.limit.takeBack("b")).isInstanceOf(IllegalStateException.class);

        assertThat(engine.members("partner")).hasSize(2);
    }

    // when data are lost

    @Test
    void anEngineThatRestartsEmptyLendsNobodyMoreThanItHas() {
        a.runs(12);
        b.asks(30);
        b.exchange();
        b.exchange();
        int before = b.running();
        assertThat(before).isEqualTo(8);
        engine.loseData();
        b.exchange();
        b.exchange();
        assertThat(b.running()).isEqualTo(before);
        a.exchange();
        b.exchange();
        assertThat(a.running() + b.running()).isEqualTo(PERMITS);
    }

    @Test
    void aFailoverThatLosesWritesIsCorrectedByTheNextBeat() {
        a.runs(4);
        Runnable failover = engine.backup();
        a.asks(30);
        a.exchange();
        a.exchange();
        assertThat(a.running()).isEqualTo(PERMITS);
        failover.run();
        a.exchange();
        assertThat(engine.lent("partner")).isEqualTo(PERMITS);
        b.asks(10);
        b.exchange();
        assertThat(b.running()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-900, 5, 900})
    void aClockOfTheEngineThatJumpsLendsNothingTwice(long seconds) {
        a.runs(PERMITS);
        engine.pass(Duration.ofSeconds(seconds));
        a.exchange();
        b.asks(30);
        b.exchange();
        b.exchange();
        assertThat(a.running() + b.running()).isLessThanOrEqualTo(PERMITS);
        pass(LEASE);
        a.end(15);
        a.exchange();
        b.exchange();
        assertThat(a.running() + b.running()).isLessThanOrEqualTo(PERMITS);
        assertThat(b.running()).isPositive();
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
                        Duration.ZERO,
                        List.of(new Member("a", 0, 0, 20, 0, Duration.ZERO, Duration.ZERO, false))));
        c.exchange();
        pass(Duration.ofSeconds(1));
        a.asks(3);
        a.exchange();
        pass(Duration.ofSeconds(2));
        state = a.limit.cluster();
        assertThat(state.lending()).isEqualTo(Lending.LENT);
        assertThat(state.since()).isEqualTo(Duration.ofSeconds(2));
        assertThat(state.leaseLeft()).isEqualTo(Duration.ofSeconds(7));
        assertThat(state.members()).extracting(Member::name).containsExactly("a", "c");
        assertThat(state.members().get(0))
                .extracting(Member::holds, Member::wants)
                .containsExactly(a.limit.lent(), 3);
        assertThat(a.share.describe()).isEqualTo("limit 'partner' has %d of 20 permits".formatted(a.limit.lent()));
        learn(a, c);
        lose(a);
        assertThat(a.share.describe()).isEqualTo("limit 'partner' goes on alone with 10 of 20 permits");
        assertThat(a.limit.whyFull()).isNull();
        Replica d = new Replica("d", limit(), OnFailure.REJECT, null);
        assertThat(d.share.describe()).isEqualTo("limit 'partner' rejects new calls");
        assertThat(b.share.describe())
                .startsWith(
                        "limit 'partner' lets its calls wait, because this replica does not know how many there are");
    }

    /**
     * Any order of exchanges, failures, lost answers, long breaks and changes: never more calls than permits. A replica that stands
     * still has no calls; those that it had would run on.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void neverMoreCallsThanPermits(int round) {
        long seed = Long.getLong("stress.seed", System.nanoTime() + round);
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        List<Replica> all = new ArrayList<>();
        int permits = 1 + random.nextInt(8);
        for (int i = 0; i < 4; i++) {
            all.add(new Replica(
                    "shop-" + i,
                    LimitSettings.of("partner", permits).withClusterPermits(permits),
                    OnFailure.WAIT,
                    null));
        }
        long begun = 0;
        for (int step = 0; step < 5_000; step++) {
            Replica replica = all.get(random.nextInt(all.size()));
            switch (random.nextInt(20)) {
                case 0 -> engine.fail();
                case 1 ->
                    engine.after(claims -> {
                        throw new IOException("no answer");
                    });
                case 2 -> {
                    if (replica.running() == 0) {
                        replica.standsStillUntil = nanos + random.nextLong(2 * LEASE.toNanos());
                    }
                }
                case 3 -> {
                    if (random.nextInt(5) == 0) {
                        replica.answer(replica.share.goodbye());
                    }
                }
                case 4, 5, 6 -> replica.asks(1 + random.nextInt(permits));
                case 7, 8, 9 -> begun += replica.end(1 + random.nextInt(permits));
                case 10, 11, 12 -> pass(Duration.ofMillis(random.nextInt(300)));
                case 13 -> replica.share.look();
                case 14, 15 -> engine.heal();
                default -> {
                    if (replica.standsStillUntil - nanos < 0) {
                        replica.exchange();
                    }
                }
            }
            if (random.nextInt(3) > 0) { // nobody's lease ends under its calls
                for (Replica each : all) {
                    if (each.running() > 0 && each.limit.cluster().leaseLeft().compareTo(Duration.ofSeconds(2)) < 0) {
                        engine.heal();
                        each.exchange();
                    }
                }
            }
            assertThat(all.stream().mapToInt(Replica::running).sum()).isLessThanOrEqualTo(permits);
        }
        assertThat(begun).isPositive();
    }

    private static LimitSettings limit() {
        return LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        engine.pass(time);
    }

    /** They come to know each other, and the engine records their local shares. */
    private static void learn(Replica... replicas) {
        for (int i = 0; i < 4; i++) {
            for (Replica each : replicas) {
                each.exchange();
            }
        }
    }

    /** The lease ends, and the engine does not answer. Afterwards it does. */
    private void lose(Replica replica) {
        engine.fail();
        pass(replica.limit.cluster().leaseLeft());
        replica.share.look();
        replica.exchange();
        patience(replica);
        engine.heal();
    }

    private void neverReached(Replica replica) {
        engine.fail();
        replica.exchange();
        patience(replica);
    }

    private void patience(Replica replica) {
        for (int i = 0; i < 5; i++) {
            pass(STEP);
            replica.share.look();
        }
    }

    private final class Replica {

        final TaskLimit limit;
        final ClusterShare share;
        final List<Request> requests = new ArrayList<>();
        int asked;
        long standsStillUntil = nanos;

        Replica(String name) {
            this(name, limit(), OnFailure.LOCAL_SHARE, null);
        }

        Replica(String name, LimitSettings settings, OnFailure onFailure, @Nullable Integer replicas) {
            limit = new TaskLimits(List.of(settings), timer, change -> {}).get(settings.name());
            share = new ClusterShare(
                    limit,
                    name,
                    new ClusterSettings(name, LEASE, BEAT, onFailure, replicas),
                    () -> nanos,
                    () -> beat.toNanos(),
                    () -> asked++,
                    goodbye -> {
                        try {
                            engine.exchange(List.of(goodbye));
                        } catch (Exception failure) {
                            throw new IllegalStateException(failure);
                        }
                    });
            share.begin();
        }

        /** Returns whether there was an answer, in time. */
        boolean exchange() {
            return answer(share.claim());
        }

        boolean answer(Claim claim) {
            try {
                return share.answered(claim, engine.exchange(List.of(claim)).get(0), nanos);
            } catch (Exception failure) {
                share.failed();
                return false;
            }
        }

        Request ask() {
            return asks(1).get(0);
        }

        List<Request> asks(int calls) {
            List<Request> asking = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                Request request = new Request(limit);
                assertThat(request.asks()).isNull();
                asking.add(request);
            }
            requests.addAll(asking);
            return asking;
        }

        /** So many calls are lent permits, and run. */
        void runs(int calls) {
            asks(calls);
            for (int i = 0; i < 3 && running() < calls; i++) {
                exchange();
            }
            assertThat(running()).isEqualTo(calls);
        }

        @Nullable
        Reason refusal() {
            Request request = new Request(limit);
            Reason refused = request.asks();
            if (refused == null) {
                requests.add(request);
            }
            return refused;
        }

        int running() {
            return (int) requests.stream().filter(Request::isRunning).count();
        }

        /** Ends so many calls that run, the oldest first; returns how many there were. */
        int end(int calls) {
            List<Request> ending =
                    requests.stream().filter(Request::isRunning).limit(calls).toList();
            requests.removeAll(ending);
            ending.forEach(Request::ends);
            return ending.size();
        }
    }
}
