package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer.Other;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What depends on the time of an engine, at times that a test chooses. {@link LendingContract} has the other rules. */
class LimitLedgerTests {

    private static final long SECOND = 1_000;
    private static final long HOUR = 3_600 * SECOND;
    private static final long LEASE = 10 * SECOND;
    private static final int PERMITS = 10;

    private LimitLedger ledger = new LimitLedger(false);
    private long now = 1_000 * HOUR;

    // The clock steps back

    @Test
    void aLeaseEndsAsIfItBeganWhenTheClockSteppedBack() {
        Member a = new Member("a");
        Member b = new Member("b");
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
        Member a = new Member("a");
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
        Member a = new Member("a");
        a.ask(0, 4);
        now -= HOUR;

        Answer answer = new Member("b").ask(0, 0);

        assertThat(answer.others()).containsExactly(new Other("a", 4, 4, PERMITS, now, now));
    }

    @Test
    void aLossThatWasNoticedIsNotNoticedAgainWhenTheClockStepsBack() {
        Member a = new Member("a");
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
        Member a = new Member("a");
        a.ask(0, 4);
        loseData();
        a.ask(4, 4);
        now -= HOUR;
        a.ask(4, 4);
        now += LEASE;
        a.ask(4, 4);
        String backup = ledger.text();
        a.ask(4, 6);
        ledger = LimitLedger.of(backup);

        assertThat(a.ask(6, 7).noGrowthFor()).isEqualTo(Duration.ofMillis(LEASE));
    }

    // The clock steps forward

    @Test
    void aStepOfHalfALeaseIsNone() {
        Member a = new Member("a");
        a.ask(0, 4);

        now += LEASE / 2;

        assertThat(a.ask(Duration.ZERO, 4, 5).share()).isEqualTo(5);
    }

    @Test
    void aGreaterStepHoldsUpGrowthForALease() {
        Member a = new Member("a");
        a.ask(0, 4);

        now += LEASE / 2 + 1;

        assertThat(a.ask(Duration.ZERO, 4, 5).noGrowthFor()).isEqualTo(Duration.ofMillis(LEASE));
    }

    @Test
    void aStepCountsFromTheLastClaimThatWasStored() {
        Member a = new Member("a");
        a.ask(0, 4);
        now += SECOND;
        a.unanswered(4, 4);

        now += LEASE + SECOND;

        assertThat(a.ask(Duration.ofSeconds(2), 4, 5).share()).isEqualTo(4);
    }

    @Test
    void aMemberThatHasHadNoAnswerYetKnowsOfNoStep() {
        new Member("stays").ask(0, 0);
        Member a = new Member("a");
        a.unanswered(0, 1);
        now += LEASE / 2 + 1;
        Member b = new Member("b");
        b.ask(0, 0);

        assertThat(a.ask(0, 1).share()).isEqualTo(1);
    }

    @Test
    void waitingForAConnectionIsNoStep() {
        Member a = new Member("a");
        a.ask(0, 4);
        now += LEASE;

        Answer answer = ledger.lend(a.claim(Duration.ZERO, 4, 5), now, "", Duration.ofMillis(LEASE));

        assertThat(answer.share()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(longs = {LEASE, 2 * HOUR})
    void noNewMemberIsLentWhatOthersHaveWhenTheClockStepsBeyondAllLeases(long step) {
        Member a = new Member("a");
        a.ask(0, 8);
        now += step;

        assertThat(new Member("b").ask(0, 3).share()).isZero();
        assertThat(a.ask(Duration.ofSeconds(1), 8, 9).share()).isEqualTo(8);
    }

    // Two leases

    @Test
    void aMemberThatComesBackAfterTwoLeasesHoldsNobodyUp() {
        Member a = new Member("a");
        Member b = new Member("b");
        a.ask(0, 4);
        b.ask(0, 1);
        long back = now + 2 * LEASE;
        while (now < back) {
            now += LEASE / 2;
            b.ask(1, 1);
        }

        Answer answer = a.ask(0, 4);

        assertThat(answer.noGrowthFor()).isZero();
        assertThat(answer.share()).isEqualTo(4);
        assertThat(b.ask(1, 6).share()).isEqualTo(6);
    }

    @Test
    void aClaimOfAMemberThatIsForgottenIsNotLate() {
        Member a = new Member("a");
        a.number = 7;
        a.ask(0, 4);
        now += 2 * LEASE;
        new Member("b").ask(0, 0);
        a.number = 0;

        assertThat(a.ask(0, 4).refusal()).isNull();
    }

    @Test
    void aNewMemberIsLentNothingForALeaseHoweverLongAllOthersAreSilent() {
        new Member("a").ask(0, 4);
        now += 24 * HOUR;
        Member b = new Member("b");

        assertThat(b.ask(0, 4).share()).isZero();
        now += LEASE;
        assertThat(b.ask(0, 4).share()).isEqualTo(4);
    }

    @Test
    void aMemberThatIsSilentIsForgottenAfterTwoLeases() {
        new Member("a").ask(0, 4);
        Member b = new Member("b");
        now += 2 * LEASE - 1;
        b.ask(0, 1);
        assertThat(ledger.text()).contains("\na ");

        now += 1;
        b.ask(0, 1);

        assertThat(ledger.text()).doesNotContain("\na ");
    }

    // Local shares: 10 permits of 3 replicas are 3 each

    @Test
    void aLocalShareIsKeptForEachMemberThatIsNotThere() {
        Member a = alone("a");

        Answer first = a.ask(0, PERMITS);
        assertThat(first.share()).isEqualTo(4);
        assertThat(first.permits()).isEqualTo(PERMITS);
        assertThat(first).extracting(Answer::kept, Answer::keptFor).containsExactly(6, 2);

        alone("b").ask(0, 0);
        alone("c").ask(0, 0);
        now += 1;
        a.ask(4, 4);
        assertThat(new Member("looks").ask(0, PERMITS).kept())
                .as("to one that waits without the engine")
                .isZero();
    }

    @Test
    void nothingIsKeptForMembersThatHaveTheirAnswers() {
        List<Member> all = List.of(alone("a"), alone("b"), alone("c"));
        for (int i = 0; i < 3; i++) {
            now += 1;
            all.forEach(member -> member.ask(0, 0));
        }

        assertThat(all.getFirst().ask(0, PERMITS))
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(PERMITS, 0, 0);
    }

    /** Whoever borrows before that gives it back before the member goes on alone, two leases after its last answer. */
    @ParameterizedTest
    @CsvSource({"9999, 10, 0, 0", "10000, 9, 1, 1"})
    void aMemberMayBeAloneALeaseAfterTheLastAnswerThatItIsKnownToHave(long later, int share, int kept, int keptFor) {
        Member a = alone("a", 2);
        Member b = alone("b", 2);
        now += 1;
        a.ask(0, 0);
        b.ask(0, 0); // this answer comes
        long confirmed = now;
        now += LEASE / 2;
        b.unanswered(4, 4); // it tells that
        now += LEASE / 4;
        b.unanswered(4, 4);
        a.ask(0, 0);

        now = confirmed + later;

        assertThat(a.ask(0, PERMITS))
                .as("b holds 4 of its 5")
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(share - 4, kept, keptFor);
    }

    @Test
    void whatAMemberHoldsThatMayBeAloneIsNotKeptForItOnceMore() {
        Member a = alone("a", 2);
        Member b = alone("b", 2);
        now += 1;
        b.ask(7, 7);

        assertThat(a.ask(0, PERMITS))
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(3, 0, 0);
    }

    @Test
    void aMemberThatHasNotClaimedSinceTheYoungestBeganMayHaveBeenReplacedByIt() {
        Member a = alone("a", 2);
        Member b = alone("b", 2);
        now += 1;
        a.ask(0, 0);
        b.ask(1, 1);
        Member c = alone("c", 2);
        c.ask(0, 0);
        now += 1;
        assertThat(a.ask(0, 0)).extracting(Answer::kept, Answer::keptFor).containsExactly(9, 2);

        b.ask(1, 1);
        c.ask(0, 0);

        assertThat(a.ask(0, 0)).extracting(Answer::kept, Answer::keptFor).containsExactly(0, 0);
    }

    @Test
    void nobodyKnowsHowLongAgoAnAnswerCameWhenTheClockStepsBack() {
        Member a = alone("a", 2);
        Member b = alone("b", 2);
        now += 1;
        a.ask(0, 0);
        b.ask(0, 0);
        now += 1;
        b.ask(0, 0);
        assertThat(a.ask(0, 0).kept()).isZero();

        now -= HOUR;

        assertThat(a.ask(0, 0).kept()).isEqualTo(5);
    }

    @Test
    void noPermitIsKeptIfThereAreMoreReplicasThanPermits() {
        assertThat(alone("a", PERMITS + 1).ask(0, PERMITS))
                .extracting(Answer::share, Answer::kept, Answer::keptFor)
                .containsExactly(PERMITS, 0, 0);
    }

    private Member alone(String name) {
        return alone(name, 3);
    }

    /** One of so many that may run without the engine. */
    private Member alone(String name, int replicas) {
        Member member = new Member(name);
        member.replicas = replicas;
        return member;
    }

    // Numbers, servers, texts

    @Test
    void sumsMayExceedAnInt() {
        int most = Integer.MAX_VALUE;
        for (String name : new String[] {"a", "b", "c"}) {
            Member member = new Member(name);
            member.permits = most;
            member.replicas = 1;
            member.ask(most, most);
        }
        Member d = new Member("d");
        d.permits = most;
        d.replicas = 1;

        assertThat(d.ask(0, most)).extracting(Answer::share, Answer::kept).containsExactly(0, 0);
    }

    @Test
    void aServerThatSaysNothingIsNoOther() {
        Member a = new Member("a");
        a.ask(0, 4);
        assertThat(lend(a, 4, 5, "x").share())
                .as("the first that says something")
                .isEqualTo(5);
        assertThat(lend(a, 5, 6, "x").share()).as("the same").isEqualTo(6);
        assertThat(lend(a, 6, 7, "y").share()).as("another").isEqualTo(6);
        now += LEASE;
        assertThat(lend(a, 6, 7, "").share()).as("one that says nothing").isEqualTo(6);
        now += LEASE;
        assertThat(lend(a, 6, 7, "").share()).isEqualTo(7);
    }

    private Answer lend(Member member, int holds, int asks, String server) {
        Answer answer = ledger.lend(
                member.claim(Duration.ofMillis(now - member.answeredAt), holds, asks), now, server, Duration.ZERO);
        return member.answered(answer);
    }

    @Test
    void aTextHasAllOfALedger() {
        Member a = new Member("a b\nc%+\u65e5");
        a.number = Long.MAX_VALUE - 10;
        a.ask(0, 3);
        loseData();
        lend(a, 3, 3, "the server, 7\n");
        String text = ledger.text();

        assertThat(text).matches("[!-~ \\n]+");
        assertThat(LimitLedger.of(text).text()).isEqualTo(text);
        assertThat(text.lines()).hasSize(2);
        ledger = LimitLedger.of(text);
        Answer answer = new Member("b").ask(0, 1);
        assertThat(answer.noGrowthFor()).isEqualTo(Duration.ofMillis(LEASE));
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
                "1 2 3 \na b c d e f g h i j",
                "1 2 3 \n"
            })
    void aTextOfAnythingElseIsNamed(String text) {
        if (text.equals("1 2 3 \n")) {
            assertThat(LimitLedger.of(text).text()).isEqualTo(text);
            return;
        }
        assertThatThrownBy(() -> LimitLedger.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("was not written by this version of the starter: '" + text + "'");
    }

    @Test
    void aLongTextOfAnythingElseIsShortened() {
        assertThatThrownBy(() -> LimitLedger.of("x".repeat(1_000)))
                .hasMessageEndingWith("'" + "x".repeat(200) + "...'");
    }

    @Test
    void aLedgerThatNobodyStayedInIsEmpty() {
        for (boolean mayBeLost : new boolean[] {true, false}) {
            ledger = new LimitLedger(mayBeLost);
            Member a = new Member("a");
            a.lease = 0;
            a.ask(0, 0);
            assertThat(ledger.isEmpty()).isTrue();

            a.lease = LEASE;
            a.ask(0, 0);
            assertThat(ledger.isEmpty()).isFalse();
        }
    }

    private void loseData() {
        now += 1;
        ledger = new LimitLedger(true);
    }

    /** Claims what a test says, and says how long ago its last answer came. */
    private final class Member {

        private final String name;
        private int permits = PERMITS;
        private int replicas;
        private long started = now;
        private long lease = LEASE;
        private long number;
        private long last;
        private long answeredAt = now;

        Member(String name) {
            this.name = name;
        }

        Answer ask(int holds, int asks) {
            return ask(last == 0 ? Duration.ZERO : Duration.ofMillis(now - answeredAt), holds, asks);
        }

        Answer ask(Duration age, int holds, int asks) {
            return answered(lend(age, holds, asks));
        }

        void unanswered(int holds, int asks) {
            lend(Duration.ofMillis(now - answeredAt), holds, asks);
        }

        private Answer lend(Duration age, int holds, int asks) {
            return ledger.lend(claim(age, holds, asks), now, "", Duration.ZERO);
        }

        Answer answered(Answer answer) {
            last = number;
            answeredAt = now;
            return answer;
        }

        Claim claim(Duration age, int holds, int asks) {
            return new Claim(
                    "partner",
                    name,
                    ++number,
                    last,
                    age.isNegative() ? Duration.ZERO : age,
                    Duration.ofMillis(Math.max(0, now - started)),
                    permits,
                    replicas,
                    holds,
                    asks,
                    asks,
                    Duration.ZERO,
                    Duration.ofMillis(lease));
        }
    }
}
