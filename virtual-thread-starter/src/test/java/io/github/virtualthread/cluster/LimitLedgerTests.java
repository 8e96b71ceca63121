package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer.Other;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What depends on the time of an engine, at times that a test chooses. {@code ClusterEngineContract} has the other rules. */
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

        assertThat(answer.others()).containsExactly(new Other("a", 4, 4, PERMITS, 0, now, now, true));
    }

    @Test
    void aNewMemberIsCarefulForOneLeaseFromThenOnWhenTheClockStepsBack() {
        Member a = new Member("a");
        a.ask(0, 0);
        new Member("b").local(0, 0, 0, 4);
        for (int i = 0; i < 3; i++) {
            now += LEASE / 3;
            a.ask(0, 0);
        }
        now += 1; // b is away
        Member c = new Member("c");
        c.lease = 2 * LEASE;
        assertThat(c.ask(0, 10).share()).isEqualTo(6);

        now -= HOUR;
        for (int i = 0; i < 4; i++) { // b seems to live
            a.ask(0, 0);
            c.ask(6, 6);
            now += LEASE / 4;
        }
        for (int i = 0; i < 4; i++) {
            a.ask(0, 0);
            assertThat(c.ask(6, 10).share()).isEqualTo(6);
            now += LEASE / 4;
        }
        a.ask(0, 0);

        assertThat(c.ask(6, 10).share()).isEqualTo(10);
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
        a.local(0, 8, 0, 8);
        now += step;

        Answer answer = new Member("b").local(0, 3, 0, 3);

        assertThat(answer.share()).isZero();
        assertThat(answer.localShare()).isZero();
        assertThat(a.ask(Duration.ofSeconds(1), 8, 9).share()).isEqualTo(8);
    }

    // An hour

    @Test
    void aMemberThatIsAwayKeepsItsLocalShareForAnHour() {
        Member a = new Member("a");
        a.local(0, 0, 0, 4);
        new Member("b").ask(0, 0);
        now += LEASE + HOUR - 1;
        Member c = new Member("c");
        c.ask(0, 0);

        assertThat(c.local(0, 0, 0, 10).localShare())
                .as("held up, as all were silent")
                .isZero();
        Other other = c.ask(0, 0).others().getFirst();
        assertThat(other.localShare()).isEqualTo(4);
        assertThat(other.alive()).isFalse();
        now += 1;
        assertThat(c.ask(0, 0).others()).isEmpty();
    }

    @Test
    void theLocalShareOfAMemberThatWasAwayForAnHourIsFree() {
        Member b = new Member("b");
        new Member("a").local(0, 0, 0, 4);
        b.ask(0, 0);
        long over = now + LEASE + HOUR;
        while (now < over - LEASE / 2) {
            now += LEASE / 2;
            b.ask(0, 0);
        }
        now = over - 1;
        assertThat(b.local(0, 0, 0, 10).localShare()).isEqualTo(6);

        now = over;

        assertThat(b.local(0, 0, 6, 10).localShare()).isEqualTo(10);
    }

    @Test
    void aMemberThatComesBackAfterAnHourHoldsNobodyUp() {
        Member a = new Member("a");
        Member b = new Member("b");
        a.ask(0, 4);
        b.ask(0, 1);
        long back = now + LEASE + HOUR;
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
        now += LEASE + HOUR;
        a.number = 0;

        assertThat(a.ask(0, 4).refusal()).isNull();
    }

    /** A copy of a database that is older than an hour knows as little as one of a minute ago. */
    @Test
    void aNewMemberIsLentNothingForALeaseIfAllOthersAreSilentForMoreThanAnHour() {
        new Member("a").ask(0, 4);
        now += 24 * HOUR;
        Member b = new Member("b");

        assertThat(b.ask(0, 4).share()).isZero();
        now += LEASE;
        assertThat(b.ask(0, 4).share()).isEqualTo(4);
    }

    @Test
    void localSharesThatMayHaveBeenLostAreFreeAfterAnHour() {
        Member a = new Member("a");
        a.local(0, 0, 0, 4);
        loseData();
        a.local(0, 0, 4, 4);
        long noticed = now;
        while (now < noticed + HOUR - LEASE / 2) {
            now += LEASE / 2;
            assertThat(a.local(0, 0, 4, 10).localShare()).isEqualTo(4);
        }

        now = noticed + HOUR;

        assertThat(a.local(0, 0, 4, 10).localShare()).isEqualTo(10);
    }

    @Test
    void localSharesThatMayHaveBeenLostCountFromTheLastLoss() {
        Member a = new Member("a");
        a.local(0, 0, 0, 4);
        loseData();
        a.local(0, 0, 4, 4);
        Member b = new Member("b");
        b.local(0, 0, 6, 6); // all are known
        now += LEASE;
        a.ask(0, 0);
        loseData();
        a.local(0, 0, 4, 4);
        now += LEASE;

        assertThat(a.local(0, 0, 4, 10).localShare())
                .as("6 are at the other again")
                .isEqualTo(4);
    }

    @Test
    void localSharesThatMayHaveBeenLostAreCountedAnewAfterEachLoss() {
        Member a = new Member("a");
        Member b = new Member("b");
        Member c = new Member("c");
        a.local(0, 0, 0, 4);
        b.local(0, 0, 0, 3);
        loseData();
        a.local(0, 0, 4, 4);
        b.local(0, 0, 3, 3);
        now += LEASE / 2;
        a.local(0, 0, 4, 4);
        b.lease = 0;
        b.local(0, 0, 0, 0); // 3 may be at others
        now += LEASE / 2;
        a.local(0, 0, 4, 4);
        String backup = ledger.text();
        now += 1;
        assertThat(c.local(0, 0, 0, 10).localShare()).isEqualTo(3);
        ledger = LimitLedger.of(backup);
        now += 1;
        c.local(0, 0, 3, 3);
        now += LEASE / 2;
        c.local(0, 0, 3, 3);
        a.local(0, 0, 4, 4);
        now += LEASE / 2;

        assertThat(a.local(0, 0, 4, 10).localShare()).as("3 still may be").isEqualTo(4);
    }

    // Numbers, servers, texts

    @Test
    void sumsMayExceedAnInt() {
        int most = Integer.MAX_VALUE;
        for (String name : new String[] {"a", "b", "c"}) {
            Member member = new Member(name);
            member.permits = most;
            member.local(most, most, most, most);
        }
        Member d = new Member("d");
        d.permits = most;

        Answer answer = d.local(0, most, 0, most);

        assertThat(answer.share()).isZero();
        assertThat(answer.localShare()).isZero();
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
        a.local(0, 3, 0, 4);
        loseData();
        a.localShare = 4;
        lend(a, 3, 3, "the server, 7\n");
        String text = ledger.text();

        assertThat(text).matches("[!-~ \\n]+");
        assertThat(LimitLedger.of(text).text()).isEqualTo(text);
        assertThat(text.lines()).hasSize(2);
        ledger = LimitLedger.of(text);
        Answer answer = new Member("b").ask(0, 1);
        assertThat(answer.noGrowthFor()).isEqualTo(Duration.ofMillis(LEASE));
        assertThat(answer.others()).containsExactly(new Other("a b\nc%+\u65e5", 3, 3, PERMITS, 4, now, now, true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "1 2 3 4",
                "1 2 3 4 5 6",
                "a b c d e",
                "1 2 3 -1 \na 1 2 3",
                "1 2 3 -1 \na 1 2 3 4 5 6 7 8 9 10",
                "1 2 3 -1 \na b c d e f g h i j",
                "1 2 3 -1 \n"
            })
    void aTextOfAnythingElseIsNamed(String text) {
        if (text.equals("1 2 3 -1 \n")) {
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
        private int localShare;
        private int asksLocal;
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

        Answer local(int holds, int asks, int localShare, int asksLocal) {
            this.localShare = localShare;
            this.asksLocal = asksLocal;
            return ask(holds, asks);
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
                    permits,
                    holds,
                    asks,
                    asks,
                    localShare,
                    asksLocal,
                    Duration.ZERO,
                    Duration.ofMillis(lease));
        }
    }
}
