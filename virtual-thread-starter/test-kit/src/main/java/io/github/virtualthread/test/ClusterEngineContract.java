package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Answer.Other;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What each {@link ClusterEngine} has to do, whatever its server: extend it to test yours. It has the rules of lending, and all of
 * {@link ClusterStoreContract}.
 */
public abstract class ClusterEngineContract extends ClusterStoreContract {

    /** For the tests of an engine. */
    protected ClusterEngineContract() {}

    // What is lent

    @Test
    void lendsWhatIsFree() throws Exception {
        Answer answer = member("a").ask(0, 4);

        assertThat(answer.share()).isEqualTo(4);
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.noGrowthFor()).isZero();
        assertThat(answer.others()).isEmpty();
        assertThat(answer.refusal()).isNull();
        assertThat(member("b").ask(0, 6).share()).isEqualTo(6);
    }

    @Test
    void lendsNoMoreThanIsFree() throws Exception {
        Member a = member("a");
        a.ask(0, 7);
        Member b = member("b");

        assertThat(b.ask(0, 7).share()).isEqualTo(3);
        assertThat(b.ask(3, 7).share()).isEqualTo(3);
        assertThat(member("c").ask(0, 1).share()).isZero();
        assertThat(a.ask(7, 11).share()).isEqualTo(7);
    }

    @Test
    void lendsNoMoreThanThePermitsToAMemberThatIsAlone() throws Exception {
        assertThat(member("a").ask(0, PERMITS + 1).share()).isEqualTo(PERMITS);
    }

    @Test
    void doesNotTakeWhatIsHeld() throws Exception {
        Member a = member("a");
        a.ask(0, 7);
        Member b = member("b");

        assertThat(a.ask(7, 2).share()).isEqualTo(7);
        assertThat(b.ask(5, 5).share()).as("holds more than is free").isEqualTo(5);
        assertThat(b.ask(5, 9).share())
                .as("holds more than is free, asks for more")
                .isEqualTo(5);
        assertThat(a.ask(7, 8).others()).extracting(Other::holds).containsExactly(5);
    }

    @Test
    void lendsWhatAnotherMemberGivesBack() throws Exception {
        Member a = member("a");
        a.ask(0, 10);
        a.ask(4, 4);

        assertThat(member("b").ask(0, 10).share()).isEqualTo(6);
    }

    @Test
    void countsWhatAMemberHoldsOnlyOnce() throws Exception {
        Member a = member("a");
        a.ask(0, 4);

        Answer answer = a.ask(4, 8);

        assertThat(answer.share()).as("its own permits are not counted twice").isEqualTo(8);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void whatAMemberHoldsIsFreeWhenItsLeaseIsOver() throws Exception {
        member("a").lease(SHORT).ask(0, 7);
        Member b = member("b");
        b.ask(0, 1);
        pass(SHORT);

        Answer answer = b.ask(1, 10);

        assertThat(answer.share()).isEqualTo(10);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void aLeaseBeginsAnewWithEachClaim() throws Exception {
        Member a = member("a");
        a.lease(MEDIUM).ask(0, 7);
        a.lease(LONG).ask(7, 7);
        pass(MEDIUM);

        assertThat(member("b").ask(0, 10).share()).isEqualTo(3);
    }

    @Test
    void aMemberWhoseLeaseIsOverComesBack() throws Exception {
        Member a = member("a").lease(SHORT);
        a.ask(0, 7);
        Member b = member("b");
        b.ask(0, 1);
        pass(SHORT);
        b.ask(1, 10);

        Answer answer = a.lease(LONG).away(LONG).ask(2, 7);

        assertThat(answer.share()).as("the calls that it still runs").isEqualTo(2);
        assertThat(answer.noGrowthFor()).as("holds nobody up").isZero();
        assertThat(b.ask(10, 10).others()).extracting(Other::holds).containsExactly(2);
    }

    @Test
    void theSmallestNumberOfPermitsOfTheLivingCounts() throws Exception {
        Member a = member("a");
        a.ask(0, 4);

        Answer lower = member("b").permits(6).ask(0, 6);
        assertThat(lower.share()).isEqualTo(2);
        assertThat(lower.permits()).isEqualTo(6);

        Answer higher = a.ask(4, 10);
        assertThat(higher.share()).as("what it holds").isEqualTo(4);
        assertThat(higher.permits()).isEqualTo(6);
        assertThat(higher.others()).extracting(Other::permits).containsExactly(6);
    }

    @Test
    void theGreaterNumberCountsWhenTheMemberOfTheSmallestSaysIt() throws Exception {
        Member a = member("a");
        a.ask(0, 4);
        Member b = member("b");
        b.permits(6).ask(0, 1);
        b.permits(10).ask(1, 1);

        Answer answer = a.ask(4, 10);

        assertThat(answer.permits()).isEqualTo(10);
        assertThat(answer.share()).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theGreaterNumberCountsWhenTheMemberOfTheSmallestIsGone(boolean goodbye) throws Exception {
        Member a = member("a");
        a.ask(0, 4);
        Member b = member("b").permits(6).lease(SHORT);
        b.ask(0, 2);
        if (goodbye) {
            b.leave();
        } else {
            pass(SHORT);
        }

        Answer answer = a.ask(4, 10);

        assertThat(answer.permits()).isEqualTo(10);
        assertThat(answer.share()).isEqualTo(10);
    }

    // Goodbyes

    @Test
    void aGoodbyeFreesWhatTheMemberHeld() throws Exception {
        Member a = member("a");
        a.ask(0, 10);
        a.leave();

        Answer answer = member("b").ask(0, 10);

        assertThat(answer.share()).isEqualTo(10);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void aGoodbyeIsAnswered() throws Exception {
        Member a = member("a");
        a.ask(0, 3);
        member("b").ask(0, 2);

        Answer answer = a.leave();

        assertThat(answer.share()).isZero();
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.others()).extracting(Other::holds).containsExactly(2);
    }

    @Test
    void aGoodbyeOfAnUnknownMemberChangesNothing() throws Exception {
        Member b = member("b");
        b.ask(0, 2);

        member("a").leave();

        assertThat(b.ask(2, 10).share()).isEqualTo(10);
    }

    @Test
    void aMemberThatLivesAlthoughItSaidGoodbyeHoldsUpGrowth() throws Exception {
        Member a = member("a");
        a.ask(0, 3);
        Member b = member("b");
        b.ask(0, 1);
        engine.exchange(List.of(goodbyeFor("a")));

        Answer answer = a.ask(3, 5);

        assertThat(answer.share()).isEqualTo(3);
        assertThat(answer.noGrowthFor()).isEqualTo(LONG);
        assertThat(b.ask(1, 10).share()).isEqualTo(1);
    }

    private static Claim goodbyeFor(String member) {
        return new Claim(
                LIMIT,
                member,
                Long.MAX_VALUE,
                0,
                Duration.ZERO,
                Duration.ZERO,
                PERMITS,
                0,
                0,
                0,
                0,
                Duration.ZERO,
                Duration.ZERO);
    }

    // Claims that come late

    @ParameterizedTest
    @ValueSource(longs = {5, 4, 0})
    void refusesAClaimThatComesLate(long late) throws Exception {
        Member a = member("a");
        a.number = 4;
        a.ask(0, 7);

        for (Duration lease : List.of(LONG, Duration.ZERO)) {
            Answer answer = engine.exchange(List.of(new Claim(
                            LIMIT,
                            "a",
                            late,
                            0,
                            Duration.ZERO,
                            Duration.ZERO,
                            PERMITS,
                            0,
                            0,
                            0,
                            0,
                            Duration.ZERO,
                            lease)))
                    .getFirst();
            assertThat(answer.refusal())
                    .isEqualTo(
                            "Claim %d of member 'a' for limit 'partner' was refused: claim 5 of this member came first."
                                            .formatted(late)
                                    + " The next claim corrects it; if this is repeated, two replicas use the same member name");
            assertThat(answer.share()).isZero();
        }

        assertThat(member("b").ask(0, 10).others()).extracting(Other::holds).containsExactly(7);
        assertThat(a.ask(7, 7).share()).isEqualTo(7);
    }

    @Test
    void numbersOfOneMemberSayNothingOfAnother() throws Exception {
        Member a = member("a");
        a.number = 4;
        a.ask(0, 1);

        assertThat(member("b").ask(0, 1).share()).isEqualTo(1);
    }

    // Data that may have been lost

    @Test
    void aMemberThatLeavesANewLimitAtOnceStoresNothing() throws Exception {
        member("a").leave("new");

        Answer answer = member("b").ask("new", 0, 4);

        assertThat(answer.noGrowthFor()).as("it is still new").isEqualTo(mayBeLost() ? LONG : Duration.ZERO);
    }

    @Test
    void noShareGrowsAfterDataWereLostAlsoIfANewMemberComesFirst() throws Exception {
        assumeTrue(mayBeLost(), "another process cannot have reached the data");
        Member a = member("a");
        a.ask(0, 5);
        loseData();

        assertThat(member("b").ask(0, 9).share()).isZero();
        assertThat(a.ask(5, 9).share()).isEqualTo(5);
    }

    @Test
    void noShareGrowsIfAMemberHadAnAnswerThatIsMissing() throws Exception {
        Member a = member("a");
        a.ask(0, 1);
        Runnable restore = backup();
        Member b = member("b");
        b.ask(0, 5);
        restore.run();

        assertThat(b.ask(5, 6).share()).as("is not known at all").isEqualTo(5);
        assertThat(a.ask(1, 9).share()).isEqualTo(1);
    }

    @Test
    void anAnswerThatHasNotComeIsNoLoss() throws Exception {
        Member a = member("a");
        a.ask(0, 1);
        a.unanswered(1, 3);

        Answer answer = a.ask(1, 5);

        assertThat(answer.share()).isEqualTo(5);
        assertThat(answer.noGrowthFor()).isZero();
    }

    @Test
    void sharesGrowAgainWhenThatLeaseIsOver() throws Exception {
        Member a = member("a");
        a.ask(0, 5);
        loseData();
        a.lease(MEDIUM).ask(5, 9);
        pass(MEDIUM);

        assertThat(a.lease(LONG).ask(5, 9).share()).isEqualTo(9);
    }

    @Test
    void aLossHoldsUpGrowthOnceHoweverManyMembersComeLater() throws Exception {
        Member a = member("a");
        Member b = member("b");
        Member c = member("c");
        a.ask(0, 1);
        b.ask(0, 1);
        c.ask(0, 1);
        pass(SHORT);
        loseData();
        a.lease(MEDIUM).ask(1, 2);
        pass(MEDIUM);
        a.lease(LONG).ask(1, 1);

        Answer second = b.ask(1, 2);
        Answer third = c.ask(1, 3);

        assertThat(second.noGrowthFor()).isZero();
        assertThat(second.share()).isEqualTo(2);
        assertThat(third.noGrowthFor()).isZero();
        assertThat(third.share()).isEqualTo(3);
    }

    @Test
    void aMemberThatHadAnAnswerSinceNoticesTheNextLoss() throws Exception {
        Member a = member("a");
        a.ask(0, 1);
        loseData();
        a.lease(MEDIUM).ask(1, 2);
        a.lease(LONG).ask(1, 2);
        pass(MEDIUM);
        Runnable restore = backup();
        Member b = member("b");
        assertThat(b.ask(0, 5).share()).isEqualTo(5);
        restore.run();

        assertThat(b.ask(5, 6).noGrowthFor()).isEqualTo(LONG);
    }

    /** Otherwise an application that is restarted meanwhile would let new replicas have all permits. */
    @Test
    void theMemberThatNoticedALossMayLeave() throws Exception {
        Member a = member("a");
        a.ask(0, 5);
        loseData();
        a.ask(5, 9);

        a.leave();

        assertThat(member("c").ask(0, 1).share()).isZero();
    }

    @Test
    void theLongestHoldUpCounts() throws Exception {
        Member a = member("a");
        Member b = member("b");
        a.ask(0, 5);
        b.ask(0, 2);
        loseData();
        a.ask(5, 9);
        b.lease(SHORT).ask(2, 2);
        b.leave();
        pass(SHORT);

        assertThat(member("c").ask(0, 1).share()).isZero();
    }

    @Test
    void aLossHoldsUpItsOwnLimitOnly() throws Exception {
        Member a = member("a");
        a.ask(0, 5);
        a.ask("mail", 0, 1);
        engine.exchange(List.of(goodbyeFor("a")));
        a.ask(5, 6);

        assertThat(a.ask("mail", 1, 4).share()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noShareGrowsIfTheClockHasSteppedForward(boolean answered) throws Exception {
        Member a = member("a").lease(SHORT);
        a.ask(0, 1);
        if (!answered) {
            a.unanswered(1, 1);
        }
        pass(SHORT); // of which the member knows nothing

        Answer answer = a.lease(LONG).away(Duration.ZERO).ask(1, 2);

        assertThat(answer.share()).isEqualTo(1);
        assertThat(answer.noGrowthFor()).isEqualTo(LONG);
        assertThat(member("b").ask(0, 2).share()).isZero();
    }

    @Test
    void timeThatTheMemberHasSeenTooIsNoStep() throws Exception {
        Member a = member("a").lease(SHORT);
        a.ask(0, 1);
        pass(SHORT);

        assertThat(a.lease(LONG).away(LONG.dividedBy(4)).ask(1, 2).share()).isEqualTo(2);
    }

    @Test
    void aNewMemberIsLentNothingForTheTimeOfALeaseIfAllOthersAreSilent() throws Exception {
        member("a").lease(SHORT).ask(0, 3);
        pass(SHORT);
        Member b = member("b").lease(MEDIUM);

        assertThat(b.ask(0, 1).share()).isZero();
        assertThat(member("c").ask(0, 1).share()).as("the next one").isZero();
        pass(MEDIUM);

        assertThat(b.away(MEDIUM).ask(0, 1).share()).isEqualTo(1);
    }

    @Test
    void aMemberThatComesBackIsLentWhatIsFreeAlsoIfAllOthersAreSilent() throws Exception {
        member("a").lease(MEDIUM).ask(0, 3);
        Member b = member("b").lease(MEDIUM);
        b.ask(0, 3);
        pass(MEDIUM);

        assertThat(b.lease(LONG).away(LONG).ask(3, 10).share()).isEqualTo(10);
    }
}
