package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer.Other;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is lent, and what is kept. The script for Redis has the same rules: {@code ScriptAndLedgerTests} compares both. */
class LimitLedgerTests extends ClockedLedger {

    private final Member a = new Member("a");
    private final Member b = new Member("b");

    // What is lent

    @Test
    void lendsWhatIsFree() {
        Answer answer = a.ask(0, 4);

        assertThat(answer.share()).isEqualTo(4);
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.noGrowthFor()).isZero();
        assertThat(answer.others()).isEmpty();
        assertThat(answer.refusal()).isNull();
        assertThat(b.ask(0, 6).share()).isEqualTo(6);
    }

    @Test
    void lendsNoMoreThanIsFree() {
        assertThat(a.ask(0, PERMITS + 1).share()).isEqualTo(PERMITS);
        a.ask(7, 7);

        assertThat(b.ask(0, 7).share()).isEqualTo(3);
        assertThat(b.ask(3, 7).share()).isEqualTo(3);
        assertThat(new Member("c").ask(0, 1).share()).isZero();
        assertThat(a.ask(7, 11).share()).isEqualTo(7);
    }

    @Test
    void doesNotTakeWhatIsHeld() {
        a.ask(0, 7);

        assertThat(a.ask(7, 2).share()).isEqualTo(7);
        assertThat(b.ask(5, 5).share()).as("holds more than is free").isEqualTo(5);
        assertThat(b.ask(5, 9).share())
                .as("holds more than is free, asks for more")
                .isEqualTo(5);
        assertThat(a.ask(7, 8).others()).extracting(Other::holds).containsExactly(5);
    }

    @Test
    void whatAMemberHoldsIsFreeWhenItsLeaseIsOver() {
        a.ask(0, 7);
        b.lease = HOUR;
        b.ask(0, 1);
        now += LEASE - 1;
        a.ask(7, 7); // it begins anew
        now += LEASE - 1;
        assertThat(b.ask(1, 10).share()).isEqualTo(3);
        now += 1;

        Answer answer = b.ask(1, 10);

        assertThat(answer.share()).isEqualTo(10);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void theSmallestNumberOfPermitsOfTheLivingCounts() {
        a.ask(0, 4);
        b.permits = 6;
        assertThat(b.ask(0, 6)).extracting(Answer::share, Answer::permits).containsExactly(2, 6);

        Answer higher = a.ask(4, 10);
        assertThat(higher.share()).as("what it holds").isEqualTo(4);
        assertThat(higher.permits()).isEqualTo(6);
        assertThat(higher.others()).extracting(Other::permits).containsExactly(6);

        b.permits = 10;
        b.ask(2, 2);
        assertThat(a.ask(4, 10)).extracting(Answer::share, Answer::permits).containsExactly(8, 10);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theGreaterNumberCountsWhenTheMemberOfTheSmallestIsGone(boolean goodbye) {
        b.permits = 6;
        b.ask(0, 2);
        a.ask(0, 4);
        if (goodbye) {
            b.leave();
        } else {
            now += LEASE;
        }

        assertThat(a.ask(4, 10)).extracting(Answer::share, Answer::permits).containsExactly(10, 10);
    }

    @Test
    void answersWithTheOtherMembersAsTheyClaimedLast() {
        a.wants = 99;
        a.turn = 50;
        a.ask(0, 4);
        long first = now;
        now += 1;
        b.permits = 12;
        b.wants = 3;
        b.ask(0, 2);

        assertThat(new Member("c").ask(0, 0).others())
                .containsExactly(new Other("a", 4, 99, PERMITS, first - 50, first), new Other("b", 2, 3, 12, now, now));
    }

    @Test
    void sumsMayExceedAnInt() {
        int most = Integer.MAX_VALUE;
        for (String name : List.of("c", "d", "e")) {
            Member member = alone(name, 1);
            member.permits = most;
            member.ask(most, most);
        }
        Member last = alone("f", 1);
        last.permits = most;

        assertThat(last.ask(0, most)).extracting(Answer::share, Answer::kept).containsExactly(0, 0);
    }

    // Goodbyes, and claims that come late

    @Test
    void aGoodbyeIsAnswered() {
        a.ask(0, 3);
        b.ask(0, 2);

        Answer answer = a.leave();

        assertThat(answer.share()).isZero();
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.others()).extracting(Other::holds).containsExactly(2);
        assertThat(new Member("unknown").leave().others()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 4, 0})
    void aClaimThatComesLateIsRefusedAndChangesNothing(long late) {
        a.number = 4;
        a.ask(0, 7);
        a.number = late - 1;

        assertThat(a.ask(0, 0).refusal())
                .isEqualTo("Claim %d of member 'a' for limit 'partner' was refused: claim 5 of this member came first."
                                .formatted(late)
                        + " The next claim corrects it; if this is repeated, two replicas use the same member name");
        a.number = late - 1;
        assertThat(a.leave().refusal()).isNotNull();

        assertThat(b.ask(0, 10).others()).extracting(Other::holds).containsExactly(7);
    }

    @Test
    void aMemberThatIsSilentIsForgottenAfterTwoLeases() {
        a.ask(0, 4);
        now += 2 * LEASE - 1;
        b.ask(0, 1);
        assertThat(ledger.text()).contains("\na ");

        now += 1;
        b.ask(0, 1);

        assertThat(ledger.text()).doesNotContain("\na ");
    }

    // Local shares: 10 permits of 2 replicas are 5 each

    @Test
    void aLocalShareIsKeptForEachMemberThatIsNotThere() {
        Member c = alone("c", 3);

        Answer first = c.ask(0, PERMITS);
        assertThat(first.share()).isEqualTo(4);
        assertThat(first.permits()).isEqualTo(PERMITS);
        assertThat(first).extracting(Answer::kept, Answer::keptFor).containsExactly(6, 2);

        alone("d", 3).ask(0, 0);
        alone("e", 3).ask(0, 0);
        now += 1;
        c.ask(4, 4);
        assertThat(a.ask(0, PERMITS).kept())
                .as("to one that waits without the engine")
                .isZero();
    }

    /** Whoever borrows before that gives it back before the member goes on alone, two leases after its last answer. */
    @ParameterizedTest
    @CsvSource({"9999, 10, 0, 0", "10000, 9, 1, 1"})
    void aMemberMayBeAloneALeaseAfterTheLastAnswerThatItIsKnownToHave(long later, int share, int kept, int keptFor) {
        Member c = alone("c", 2);
        Member d = alone("d", 2);
        now += 1;
        c.ask(0, 0);
        d.ask(0, 0); // this answer comes
        long confirmed = now;
        now += LEASE / 2;
        d.unanswered(4, 4); // it tells that
        now += LEASE / 4;
        d.unanswered(4, 4);
        c.ask(0, 0);

        now = confirmed + later;

        assertThat(c.ask(0, PERMITS))
                .as("d holds 4 of its 5")
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(share - 4, kept, keptFor);
    }

    @Test
    void whatAMemberHoldsThatMayBeAloneIsNotKeptForItOnceMore() {
        Member c = alone("c", 2);
        Member d = alone("d", 2);
        now += 1;
        d.ask(7, 7);

        assertThat(c.ask(0, PERMITS))
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(3, 0, 0);
    }

    @Test
    void aMemberThatHasNotClaimedSinceTheYoungestBeganMayHaveBeenReplacedByIt() {
        Member c = alone("c", 2);
        Member d = alone("d", 2);
        for (int i = 0; i < 2; i++) {
            now += 1;
            c.ask(0, 0);
            d.ask(1, 1); // the second one tells that the first answer came
        }
        Member e = alone("e", 2);
        e.ask(0, 0);
        now += 1;
        assertThat(c.ask(0, 0)).extracting(Answer::kept, Answer::keptFor).containsExactly(9, 2);

        d.ask(1, 1);
        e.ask(0, 0);

        assertThat(c.ask(0, 0)).extracting(Answer::kept, Answer::keptFor).containsExactly(0, 0);
    }

    @Test
    void nobodyKnowsHowLongAgoAnAnswerCameWhenTheClockStepsBack() {
        Member c = alone("c", 2);
        Member d = alone("d", 2);
        for (int i = 0; i < 2; i++) {
            now += 1;
            c.ask(0, 0);
            d.ask(0, 0);
        }
        assertThat(c.ask(0, 0).kept()).isZero();

        now -= HOUR;

        assertThat(c.ask(0, 0).kept()).isEqualTo(5);
    }

    @Test
    void noPermitIsKeptIfThereAreMoreReplicasThanPermits() {
        assertThat(alone("c", PERMITS + 1).ask(0, PERMITS))
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(PERMITS, 0, 0);
    }

    // Texts

    @Test
    void aTextHasAllOfALedger() {
        Member odd = new Member("a b\nc%+\u65e5");
        odd.number = Long.MAX_VALUE - 10;
        odd.ask(0, 3);
        loseData();
        server = "the server, 7\n";
        odd.ask(3, 3);
        String text = ledger.text();

        assertThat(text).matches("[!-~ \\n]+");
        assertThat(LimitLedger.of(text).text()).isEqualTo(text);
        assertThat(text.lines()).hasSize(2);
        ledger = LimitLedger.of(text);
        Answer answer = b.ask(0, 1);
        assertThat(answer.noGrowthFor()).hasMillis(LEASE);
        assertThat(answer.others()).containsExactly(new Other("a b\nc%+\u65e5", 3, 3, PERMITS, now, now));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "1 2 3",
                "1 2 3 -1 server",
                "a b c d",
                "1 2 3 \na 1 2 3",
                "1 2 3 \na 1 2 3 4 5 6 7 8 9 10",
                "1 2 3 \na b c d e f g h i j"
            })
    void aTextOfAnythingElseIsNamed(String text) {
        assertThatThrownBy(() -> LimitLedger.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("was not written by this version of the starter: '" + text + "'");
    }

    @Test
    void aLongTextOfAnythingElseIsShortened() {
        assertThatThrownBy(() -> LimitLedger.of("x".repeat(1_000)))
                .hasMessageEndingWith("'" + "x".repeat(200) + "...'");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLedgerThatNobodyStayedInIsEmpty(boolean mayBeLost) {
        ledger = new LimitLedger(mayBeLost);
        a.leave();
        assertThat(ledger.isEmpty()).isTrue();

        a.lease = LEASE;
        a.ask(0, 0);
        assertThat(ledger.isEmpty()).isFalse();
    }
}
