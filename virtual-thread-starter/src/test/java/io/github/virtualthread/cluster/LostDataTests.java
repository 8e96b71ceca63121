package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer.Other;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data that may be lost, and clocks that step: when no share grows, and for how long. */
class LostDataTests extends ClockedLedger {

    private final Member a = new Member("a");
    private final Member b = new Member("b");
    private final Member c = new Member("c");

    /** It may be one that has lost its data. */
    @Test
    void aLimitWithoutDataLendsNothingForTheTimeOfALease() {
        ledger = new LimitLedger(true);

        Answer first = a.ask(0, 4);
        assertThat(first.share()).isZero();
        assertThat(first.noGrowthFor()).hasMillis(LEASE);
        assertThat(b.ask(1, 2).share()).as("another member").isEqualTo(1);
        now += LEASE - 1;
        assertThat(a.ask(0, 4).share()).isZero();
        now += 1;

        assertThat(a.ask(0, 4).share()).isEqualTo(4);
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseAfterDataWereRestored() {
        a.ask(0, 1);
        b.ask(0, 1);
        Runnable restore = backup();
        b.ask(1, 5);
        restore.run();

        Answer answer = b.ask(5, 9);

        assertThat(answer.share()).as("lends what is held").isEqualTo(5);
        assertThat(answer.noGrowthFor()).hasMillis(LEASE);
        assertThat(a.ask(1, 2).share()).as("a member that has lost nothing").isEqualTo(1);
        assertThat(c.ask(0, 1).share()).as("a new member").isZero();
    }

    @Test
    void anAnswerThatHasNotComeIsNoLoss() {
        a.ask(0, 1);
        a.unanswered(1, 3);

        Answer answer = a.ask(1, 5);

        assertThat(answer.share()).isEqualTo(5);
        assertThat(answer.noGrowthFor()).isZero();
    }

    @Test
    void aMemberThatLivesAlthoughItSaidGoodbyeHoldsUpGrowth() {
        a.ask(0, 3);
        b.ask(0, 1);
        Member last = new Member("a");
        last.number = Long.MAX_VALUE - 1;
        last.leave();

        assertThat(a.ask(3, 5).share()).isEqualTo(3);
        assertThat(b.ask(1, 10).share()).isEqualTo(1);
    }

    @Test
    void aLossHoldsUpGrowthOnceHoweverManyMembersComeLater() {
        a.ask(0, 1);
        b.lease = HOUR;
        b.ask(0, 1);
        loseData();
        a.ask(1, 2);
        now += LEASE;
        a.ask(1, 1);

        Answer answer = b.ask(1, 2);

        assertThat(answer.noGrowthFor()).isZero();
        assertThat(answer.share()).isEqualTo(2);
    }

    @Test
    void aMemberThatHadAnAnswerSinceNoticesTheNextLoss() {
        a.ask(0, 1);
        loseData();
        a.ask(1, 2);
        now += LEASE;
        a.ask(1, 2);
        Runnable restore = backup();
        assertThat(b.ask(0, 5).share()).isEqualTo(5);
        restore.run();

        assertThat(b.ask(5, 6).noGrowthFor()).hasMillis(LEASE);
    }

    /** Otherwise an application that is restarted meanwhile would let new replicas have all permits. */
    @Test
    void theMemberThatNoticedALossMayLeave() {
        a.ask(0, 5);
        loseData();
        a.ask(5, 9);

        a.leave();

        assertThat(c.ask(0, 1).share()).isZero();
    }

    @Test
    void theLongestHoldUpCounts() {
        a.ask(0, 5);
        b.ask(0, 2);
        loseData();
        server = "x";
        a.ask(5, 9);
        server = "y";
        b.lease = LEASE / 2;
        b.ask(2, 2);
        now += LEASE / 2;

        assertThat(c.ask(0, 1).share()).isZero();
    }

    @Test
    void anotherServerMayHaveLostDataAndOneThatSaysNothingIsNoOther() {
        a.ask(0, 4);
        server = "x";
        assertThat(a.ask(4, 5).share()).as("the first that says something").isEqualTo(5);
        assertThat(a.ask(5, 6).share()).as("the same").isEqualTo(6);
        server = "y";
        assertThat(a.ask(6, 7).share()).as("another").isEqualTo(6);
        now += LEASE;
        assertThat(a.ask(6, 7).share()).as("the same since").isEqualTo(7);
        server = "";
        assertThat(a.ask(7, 8).share()).as("one that says nothing").isEqualTo(7);
        now += LEASE;
        assertThat(a.ask(7, 8).share()).isEqualTo(8);
    }

    // Members that are silent

    @ParameterizedTest
    @ValueSource(longs = {LEASE, 24 * HOUR})
    void aNewMemberIsLentNothingForALeaseIfAllOthersAreSilent(long silence) {
        a.ask(0, 4);
        now += silence;

        assertThat(b.ask(0, 1).share()).isZero();
        assertThat(c.ask(0, 1).share()).as("the next one").isZero();
        now += LEASE;
        assertThat(b.ask(0, 4).share()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(longs = {LEASE, 2 * LEASE})
    void aMemberWhoseLeaseIsOverComesBackAndHoldsNobodyUp(long away) {
        b.lease = HOUR;
        a.ask(0, 7);
        b.ask(0, 1);
        now += away;
        b.ask(1, 10);

        Answer answer = a.ask(2, 7);

        assertThat(answer.share()).as("the calls that it still runs").isEqualTo(2);
        assertThat(answer.noGrowthFor()).isZero();
        assertThat(b.ask(8, 10).share()).isEqualTo(8);
    }

    // The clock steps back

    @Test
    void aLeaseEndsAsIfItBeganWhenTheClockSteppedBack() {
        a.ask(0, 4);
        b.ask(0, 1);

        now -= HOUR;
        assertThat(b.ask(1, 10).share()).as("lives").isEqualTo(6);
        now += LEASE - 1;
        assertThat(b.ask(6, 10).share()).as("lives").isEqualTo(6);
        now += 1;
        assertThat(b.ask(6, 10).share()).as("its lease is over").isEqualTo(10);
    }

    @Test
    void aHoldUpLastsAsLongAsBeforeWhenTheClockStepsBack() {
        a.ask(0, 4);
        loseData();
        a.ask(4, 5);
        now += LEASE / 2;

        now -= HOUR;
        Answer answer = a.ask(4, 5);

        assertThat(answer.noGrowthFor()).isBetween(Duration.ofMillis(LEASE / 2), Duration.ofMillis(LEASE));
        now += LEASE;
        assertThat(a.ask(4, 5).share()).isEqualTo(5);
    }

    @Test
    void aTurnThatBeganLaterBeginsNowWhenTheClockStepsBack() {
        a.ask(0, 4);
        now -= HOUR;

        assertThat(b.ask(0, 0).others()).containsExactly(new Other("a", 4, 4, PERMITS, now, now));
    }

    @Test
    void aLossThatWasNoticedIsNotNoticedAgainWhenTheClockStepsBack() {
        a.ask(0, 4);
        loseData();
        a.ask(4, 5);
        now -= HOUR;
        a.ask(4, 5);
        now += LEASE;

        assertThat(a.ask(4, 5).share()).isEqualTo(5);
        assertThat(a.ask(5, 6).share()).isEqualTo(6);
    }

    @Test
    void aLossIsNoticedAlsoAfterTheClockSteppedBack() {
        a.ask(0, 4);
        loseData();
        a.ask(4, 4);
        now -= HOUR;
        a.ask(4, 4);
        now += LEASE;
        a.ask(4, 4);
        Runnable restore = backup();
        a.ask(4, 6);
        restore.run();

        assertThat(a.ask(6, 7).noGrowthFor()).hasMillis(LEASE);
    }

    // The clock steps forward

    @Test
    void onlyAStepOfMoreThanHalfALeaseHoldsUpGrowth() {
        a.ask(0, 4);
        now += LEASE / 2;
        assertThat(a.askAfter(0, 4, 5).share()).isEqualTo(5);

        now += LEASE / 2 + 1;
        Answer answer = a.askAfter(0, 5, 6);

        assertThat(answer.share()).isEqualTo(5);
        assertThat(answer.noGrowthFor()).hasMillis(LEASE);
        assertThat(b.ask(0, 2).share()).isZero();
    }

    @Test
    void aStepCountsFromTheLastClaimThatWasStored() {
        a.ask(0, 4);
        now += 1_000;
        a.unanswered(4, 4);

        now += LEASE + 1_000;

        assertThat(a.askAfter(2_000, 4, 5).share()).isEqualTo(4);
    }

    @Test
    void aMemberThatHasHadNoAnswerYetKnowsOfNoStep() {
        c.ask(0, 0);
        a.unanswered(0, 1);
        now += LEASE / 2 + 1;
        b.ask(0, 0);

        assertThat(a.ask(0, 1).share()).isEqualTo(1);
    }
}
