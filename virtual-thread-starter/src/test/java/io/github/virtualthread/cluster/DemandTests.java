package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.test.MemoryEngine;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often a replica asks, by a clock that tests set. An answer comes two milliseconds after its claim. */
@Timeout(300)
class DemandTests {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long THIRD = LEASE.toNanos() / 3;
    private static final long WAY = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int PERMITS = 20;

    private final TaskTimer timer = new TaskTimer("timer");
    private final MemoryEngine engine = new MemoryEngine(false);
    private long nanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(15); // overflows soon
    private TaskLimit limit = limit(LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS));
    private ClusterShare share = share();
    private final List<Request> requests = new ArrayList<>();
    private boolean asked;
    private int exchanges;
    private long otherClaims;

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    private TaskLimit limit(LimitSettings settings) {
        return new TaskLimits(List.of(settings), timer, change -> {}).get("partner");
    }

    private ClusterShare share() {
        ClusterSettings settings = new ClusterSettings("shop", LEASE, null, OnFailure.WAIT, null);
        ClusterShare made =
                new ClusterShare(limit, "shop", settings, () -> nanos, () -> BEAT, () -> asked = true, goodbye -> {});
        made.begin();
        return made;
    }

    private void use(LimitSettings settings) {
        limit = limit(settings);
        share = share();
    }

    // traffic

    @ParameterizedTest
    @ValueSource(ints = {0, 100})
    void aLimitWithoutCallsAsksThreeTimesPerLease(int queueCapacity) {
        use(LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS).withQueueCapacity(queueCapacity));
        run(LEASE);
        exchanges = 0;

        run(LEASE.multipliedBy(10));

        assertThat(exchanges).isBetween(29, 30);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 20})
    void aLimitWithFewCallsAsksOnceForEachAndThreeTimesPerLeaseAtMost(int permits) {
        use(LimitSettings.of("partner", permits).withClusterPermits(permits));
        run(LEASE);
        exchanges = 0;
        for (int i = 0; i < 20; i++) {
            ask();
            run(Duration.ofMillis(300));
            assertThat(end()).isOne();
            run(Duration.ofMillis(4_700));
        }
        assertThat(exchanges).isLessThanOrEqualTo(20 + 3 * 10);
    }

    @Test
    void aLimitWithoutAQueueThatRefusesCallsAsksAtTheBeatAtMost() {
        use(LimitSettings.of("partner", 2).withClusterPermits(2).withQueueCapacity(0));
        other(1, 1);
        run(LEASE);
        assertThat(new Request(limit).asks()).isNotNull();
        run(Duration.ofMillis(10));
        ask();
        exchanges = 0;
        for (int i = 0; i < 1_000; i++) {
            assertThat(new Request(limit).asks()).isNotNull();
            run(Duration.ofMillis(2));
        }
        assertThat(exchanges).isBetween(18, 22);
    }

    // the pace

    @Test
    void itAsksAgainWhenAThirdOfTheLeaseIsOver() {
        settle();

        assertThat(share.untilClaim()).isEqualTo(THIRD);
        nanos += THIRD;
        assertThat(share.untilClaim()).isZero();
    }

    @Test
    void itAsksAtTheBeatWhileCallsWait() {
        other(15, 15);
        for (int i = 0; i < 10; i++) {
            ask();
        }
        settle();

        assertThat(share.untilClaim()).isEqualTo(BEAT);
        assertThat(exchangesIn(Duration.ofSeconds(1))).isBetween(9, 10);
    }

    @Test
    void itAsksAtTheBeatAfterAFailure() {
        settle();
        engine.fail();
        nanos += THIRD;
        exchange();

        assertThat(share.untilClaim()).isEqualTo(BEAT);
        assertThat(exchangesIn(Duration.ofSeconds(1))).isBetween(9, 10);
        engine.heal();
        exchange();
        assertThat(share.untilClaim()).isEqualTo(THIRD);
    }

    @Test
    void itAsksAtTheBeatWhileItHasMoreThanIsFairAndOthersAreHungry() {
        for (int i = 0; i < PERMITS; i++) {
            ask();
        }
        settle();
        other(0, 20);
        run(LEASE.dividedBy(3));
        exchange();

        assertThat(limit.lent()).isEqualTo(10);
        assertThat(share.untilClaim()).isEqualTo(BEAT);
    }

    /** They wait for what a third one has. */
    @Test
    void othersThatAreHungryAreNoReasonToAskForWhoHasNothingToGive() {
        other(PERMITS, 40);
        run(LEASE.multipliedBy(2));
        assertThat(limit.lent()).isZero();

        assertThat(exchangesIn(LEASE.multipliedBy(3))).isBetween(8, 9);
    }

    @Test
    void itAsksAtTheBeatWhileFarMoreIsHeldThanIsFair() {
        for (int i = 0; i < PERMITS; i++) {
            ask();
        }
        settle();
        other(0, 1);
        exchange();
        end(PERMITS);

        assertThat(share.untilClaim()).isEqualTo(BEAT);
        run(Duration.ofSeconds(1));
        assertThat(limit.lent()).isLessThan(PERMITS);
        assertThat(share.untilClaim()).isGreaterThan(BEAT);
    }

    @Test
    void whoHasTheLastPermitGivesItBackAtTheBeatAfterItsCall() {
        use(LimitSettings.of("partner", 1).withClusterPermits(1));
        other(0, 0);
        ask();
        settle();
        assertThat(share.untilClaim()).as("looks, and asks nothing").isPositive();
        assertThat(exchangesIn(Duration.ofSeconds(1))).isZero();

        assertThat(end()).isOne();
        run(Duration.ofNanos(BEAT));

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
        assertThat(limit.lent()).isZero();
        exchanges = 0;
        run(Duration.ofMillis(200));
        assertThat(exchanges).as("before a third of the lease is over").isPositive();
        ask();
        run(Duration.ofMillis(5));
        assertThat(requests).allMatch(Request::isRunning);
    }

    @Test
    void itNeverAsksAgainAndAgainWithoutAReason() {
        for (int wanted : List.of(0, 1, 5, PERMITS)) {
            for (int i = 0; i < wanted; i++) {
                ask();
            }
            run(Duration.ofSeconds(1));
            assertThat(exchangesIn(LEASE)).as("%d calls", wanted).isLessThanOrEqualTo(4);
            end(PERMITS);
        }
    }

    // calls that find no permit

    @Test
    void aCallThatComesWhileTheClaimIsOnItsWayAsksAgain() {
        settle();
        Claim claim = share.claim();
        asked = false;
        for (int i = 0; i < 15; i++) {
            ask();
        }
        assertThat(asked).isTrue();
        answer(claim);

        assertThat(share.untilClaim()).isZero();
    }

    @Test
    void aCallThatComesWhileTheClaimIsOnItsWayAsksNotIfThereIsNothing() {
        other(PERMITS, PERMITS);
        ask();
        Claim claim = share.claim();
        ask();
        answer(claim);

        assertThat(share.untilClaim()).isEqualTo(BEAT - WAY);
    }

    /** At this moment it knows of nothing more, and does not look again for a third of the lease. */
    @Test
    void aLimitThatMayRunMoreCallsAsksAtOnce() {
        use(LimitSettings.of("partner", 3).withClusterPermits(PERMITS));
        for (int i = 0; i < 8; i++) {
            ask();
        }
        settle();
        assertThat(share.untilClaim()).isEqualTo(THIRD);
        asked = false;

        limit.resize(10);

        assertThat(asked).isTrue();
        exchange();
        assertThat(requests).allMatch(Request::isRunning);
    }

    @Test
    void aSmallerNumberOfPermitsIsToldAtOnceAlsoByWhoHasNoCalls() {
        settle();
        asked = false;

        limit.setClusterPermits(5);

        assertThat(asked).isTrue();
        assertThat(share.untilClaim()).isZero();
    }

    private void ask() {
        Request request = new Request(limit);
        assertThat(request.asks()).isNull();
        requests.add(request);
    }

    private int end() {
        return end(1);
    }

    private int end(int most) {
        int ended = 0;
        for (Iterator<Request> all = List.copyOf(requests).iterator(); all.hasNext() && ended < most; ) {
            Request each = all.next();
            if (each.isRunning()) {
                requests.remove(each);
                each.ends();
                ended++;
            }
        }
        return ended;
    }

    /** Another replica that claims this, and lives for long. */
    private void other(int holds, int wants) {
        Duration zero = Duration.ZERO;
        int permits = limit.clusterPermits();
        Claim claim = new Claim(
                "partner", "zz", ++otherClaims, 0, zero, permits, holds, wants, holds, 0, 0, zero, Duration.ofHours(1));
        try {
            assertThat(engine.exchange(List.of(claim))).hasSize(1);
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** As many exchanges as it needs until it has nothing to tell, by a clock that stands. */
    private void settle() {
        long before = nanos;
        for (int i = 0; i < 10 && share.untilClaim() <= 0; i++) {
            Claim claim = share.claim();
            try {
                share.answered(claim, engine.exchange(List.of(claim)).getFirst(), nanos);
            } catch (Exception failure) {
                share.failed();
            }
        }
        assertThat(nanos).isEqualTo(before);
    }

    private void exchange() {
        exchanges++;
        Claim claim = share.claim();
        try {
            share.answered(claim, engine.exchange(List.of(claim)).getFirst(), nanos);
        } catch (Exception failure) {
            share.failed();
        }
    }

    private void answer(Claim claim) {
        long sent = nanos;
        nanos += WAY;
        try {
            assertThat(share.answered(claim, engine.exchange(List.of(claim)).getFirst(), sent))
                    .isTrue();
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
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
            share.look();
            if (share.untilClaim() <= 0) {
                exchanges++;
                Claim claim = share.claim();
                try {
                    Answer answer = engine.exchange(List.of(claim)).getFirst();
                    pass(Duration.ofNanos(WAY));
                    share.answered(claim, answer, nanos - WAY);
                } catch (Exception failure) {
                    share.failed();
                    pass(Duration.ofMillis(1));
                }
            } else {
                pass(Duration.ofMillis(1));
            }
        }
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        engine.pass(time);
    }
}
