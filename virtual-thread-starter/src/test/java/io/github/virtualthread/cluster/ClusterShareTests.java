package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

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
    private final Replica a = new Replica("a");
    private final Replica b = new Replica("b");
    private final Replica c = new Replica("c");

    @AfterEach
    void closeTimer() {
        timer.close();
    }

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

    @Test
    void whoLeftIsNotAlone() {
        Replica d = new Replica("d", 2);
        d.exchange();
        d.share.goodbye();
        pass(Duration.ofHours(1));
        d.share.look();

        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);

        engine.fail();
        d.exchange();
        patience(d);
        goAlone(d);
        assertThat(d.limit.cluster().lending())
                .as("it has begun again, and others may have its part")
                .isEqualTo(Lending.LOST);

        goAlone(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.ALONE);
    }

    // without the engine: of 20 permits, each of 3 replicas has 6

    @Test
    void itGoesOnAloneTwoLeasesAfterItsLastAnswer() {
        Replica d = new Replica("d", 3);
        learn(d);
        d.asks(10);
        engine.fail();
        pass(VALID);
        d.exchange();
        patience(d);
        assertThat(d.share.isAway()).isTrue();
        assertThat(Duration.ofNanos(d.share.untilLook())).isEqualTo(LEASE);

        pass(LEASE.minusNanos(1));
        d.share.look();
        assertThat(d.limit.cluster().lending())
                .as("others may still have what is its part")
                .isEqualTo(Lending.LOST);
        pass(Duration.ofNanos(1));
        d.share.look();

        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.ALONE);
        assertThat(d.running()).isEqualTo(6);
        assertThat(d.share.untilLook()).as("nothing more to see").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whatOthersMayUseAloneIsLentToNobody() {
        Replica d = new Replica("d", 3);
        d.asks(30);
        learn(d);
        assertThat(d.running()).isEqualTo(8);
        assertThat(d.limit.cluster())
                .extracting(ClusterState::kept, ClusterState::keptFor)
                .containsExactly(12, 2);

        learn(d, new Replica("e", 3), new Replica("f", 3));

        assertThat(d.limit.cluster())
                .extracting(ClusterState::kept, ClusterState::keptFor)
                .containsExactly(0, 0);
        assertThat(d.running()).isEqualTo(PERMITS);
    }

    @Test
    void aloneItUsesItsPartOfTheNumberInForce() {
        Replica d = new Replica("d", 2);
        Replica e = new Replica("e", 2);
        e.limit.setClusterPermits(5);
        learn(e, d);
        lose(d);
        assertThat(d.limit.lent()).isEqualTo(2);

        d.limit.setClusterPermits(3);
        engine.fail();
        d.exchange();
        assertThat(d.limit.lent()).as("a smaller number, also alone").isEqualTo(1);
    }

    @Test
    void aloneItUsesNoMoreThanThisReplicaMayRun() {
        Replica d =
                new Replica("d", LimitSettings.of("partner", 2).withClusterPermits(PERMITS), OnFailure.LOCAL_SHARE, 2);
        neverReached(d);
        d.asks(10);
        assertThat(d.running()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"3, 6, ALONE", "20, 1, ALONE", "21, 0, LOST", ", 0, LOST"})
    void whoHasNeverReachedTheEngineUsesItsPartToo(@Nullable Integer replicas, int part, Lending lending) {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, replicas);
        d.asks(10);
        neverReached(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(lending);
        assertThat(d.running()).isEqualTo(part);
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
        pass(Duration.ofSeconds(2));
        state = a.limit.cluster();
        assertThat(state.lending()).isEqualTo(Lending.LENT);
        assertThat(state.since()).isEqualTo(Duration.ofSeconds(2));
        assertThat(state.leaseLeft()).isEqualTo(Duration.ofSeconds(7));
        assertThat(state.members()).extracting(Member::name).containsExactly("a", "c");
        assertThat(state.members().get(0))
                .extracting(Member::holds, Member::wants)
                .containsExactly(a.limit.lent(), 3);
    }

    private static LimitSettings limit() {
        return LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        engine.pass(time);
    }

    /** They come to know each other, and the engine knows that they have their answers. */
    private void learn(Replica... replicas) {
        for (int i = 0; i < 4; i++) {
            pass(BEAT);
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
        goAlone(replica);
        engine.heal();
    }

    /** Two leases after the last answer. */
    private void goAlone(Replica replica) {
        pass(LEASE);
        replica.share.look();
    }

    private void neverReached(Replica replica) {
        engine.fail();
        replica.exchange();
        patience(replica);
        goAlone(replica);
        goAlone(replica);
    }

    private void patience(Replica replica) {
        for (int i = 0; i < 5; i++) {
            pass(STEP);
            replica.share.look();
        }
    }

    private final class Replica extends ClockedReplica {

        Replica(String name) {
            this(name, limit(), OnFailure.WAIT, null);
        }

        /** One of so many that may run without the engine. */
        Replica(String name, int replicas) {
            this(name, limit(), OnFailure.LOCAL_SHARE, replicas);
        }

        Replica(String name, LimitSettings settings, OnFailure onFailure, @Nullable Integer replicas) {
            super(settings, new ClusterSettings(name, LEASE, BEAT, onFailure, replicas), timer, () -> nanos, () -> {});
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

        /** So many calls are lent permits, and run. */
        void runs(int calls) {
            asks(calls);
            for (int i = 0; i < 3 && running() < calls; i++) {
                exchange();
            }
            assertThat(running()).isEqualTo(calls);
        }
    }
}
