package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.TestClaims.PERMITS;
import static io.github.virtualthread.cluster.TestClaims.claim;
import static io.github.virtualthread.cluster.TestClaims.goodbye;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer.Other;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules of lending, which there are twice: in Java, for any store, and as a script for Redis.
 *
 * <p>Members that have to live through a test have a lease of an hour; those that have to be gone have a short one, which the test
 * lets pass by the time of the engine.
 */
@Timeout(300)
public abstract class LendingContract {

    /** Lease of members that are gone at the end of {@link #pass}. */
    private static final Duration SHORT = Duration.ofMillis(50);

    /** Of members that claim again when it is over: so slow is no server that half of it goes by beside the test. */
    private static final Duration MEDIUM = Duration.ofSeconds(1);

    private static final Duration AT_ONCE = Duration.ofMillis(1);
    private static final String LIMIT = "partner";

    private ClusterEngine engine;

    /** Returns an engine without any data. Called once for each test. */
    protected abstract ClusterEngine engine() throws Exception;

    /** Deletes all that the engine has stored, as a server does that restarts empty. */
    protected abstract void loseData() throws Exception;

    /** Returns what replaces all that the engine has stored by what it has now. */
    protected abstract Runnable backup() throws Exception;

    /** Lets the data be those of another server process. */
    protected abstract void changeServer() throws Exception;

    /** Returns when so much time has passed on the clock of the engine. */
    protected void pass(Duration duration) throws Exception {
        long over = now() + duration.toMillis();
        while (now() < over) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @BeforeEach
    void begin() throws Exception {
        engine = engine();
        settle(LIMIT, "mail", "fax");
    }

    /** From now on, these limits are not new. */
    private void settle(String... limits) throws Exception {
        for (long number = 1; number <= 2; number++) {
            List<Claim> claims = new ArrayList<>();
            for (String limit : limits) {
                claims.add(claim(limit, "settler", number, 0, 0, 0, number == 1 ? AT_ONCE : Duration.ZERO));
            }
            engine.exchange(claims);
            pass(AT_ONCE);
        }
    }

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
        engine.exchange(List.of(goodbye(LIMIT, "a", Long.MAX_VALUE)));

        Answer answer = a.ask(3, 5);

        assertThat(answer.share()).isEqualTo(3);
        assertThat(answer.noGrowthFor()).isEqualTo(LONG);
        assertThat(b.ask(1, 10).share()).isEqualTo(1);
    }

    // Claims that come late

    @ParameterizedTest
    @ValueSource(longs = {5, 4, 0})
    void refusesAClaimThatComesLate(long late) throws Exception {
        Member a = member("a");
        a.number = 4;
        a.ask(0, 7);

        for (Duration lease : List.of(LONG, Duration.ZERO)) {
            Answer answer = engine.exchange(List.of(claim(LIMIT, "a", late, 0, 0, 0, lease)))
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

    // Numbers, names, several limits

    @Test
    void answersWithTheOtherMembersAsTheyClaimedLast() throws Exception {
        Member a = member("a");
        a.wants = 99;
        a.turn = SHORT;
        long first = a.ask(0, 4).now();
        Member b = member("b");
        b.permits = 12;
        b.wants = 3;
        long second = b.ask(0, 2).now();
        member("gone").lease(AT_ONCE).ask(0, 1);
        pass(AT_ONCE);

        Answer answer = member("c").ask(0, 0);

        assertThat(answer.others())
                .containsExactlyInAnyOrder(
                        new Other("a", 4, 99, 10, first - SHORT.toMillis(), first),
                        new Other("b", 2, 3, 12, second, second));
    }

    @Test
    void numbersMayBeAnyLong() throws Exception {
        Member a = member("a");
        int holds = 0;
        for (long number : List.of(9L, 10L, (1L << 53) + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE)) {
            a.number = number - 1;
            Answer answer = a.ask(holds, holds + 1);
            assertThat(answer.share()).isEqualTo(++holds);
            assertThat(answer.noGrowthFor()).as("the last one is known").isZero();
        }
        a.number = Long.MAX_VALUE - 2;

        assertThat(engine.exchange(List.of(a.claim(LIMIT, 0, 0))).getFirst().refusal())
                .isNotNull();

        assertThat(member("b").ask(0, 10).share()).isEqualTo(5);
    }

    @Test
    void answersEachOfSeveralClaimsInTheirOrder() throws Exception {
        Member a = member("a");
        engine.exchange(List.of(a.permits(8).claim("mail", 0, 1), a.permits(10).claim("partner", 0, 4)));
        Member b = member("b");

        List<Answer> answers = engine.exchange(List.of(
                b.permits(10).claim("partner", 0, 10),
                b.permits(3).claim("fax", 0, 9),
                b.permits(8).claim("mail", 0, 2)));

        assertThat(answers).extracting(Answer::share).containsExactly(6, 3, 2);
        assertThat(answers).extracting(Answer::permits).containsExactly(10, 3, 8);
        assertThat(answers).extracting(answer -> answer.others().size()).containsExactly(1, 0, 1);
    }

    @Test
    void oneClaimThatComesLateIsRefusedAlone() throws Exception {
        Member a = member("a");
        a.ask("mail", 0, 4);
        a.ask(0, 4);

        a.number = 1;
        List<Answer> answers =
                engine.exchange(List.of(a.claim(LIMIT, 0, 0), a.claim("fax", 0, 2), a.claim("mail", 0, 0)));

        assertThat(answers.get(0).refusal()).contains("Claim 2 ", "'partner'");
        assertThat(answers.get(1).refusal()).isNull();
        assertThat(answers.get(1).share()).isEqualTo(2);
        assertThat(answers.get(2).refusal())
                .as("its last claim had a lower number")
                .isNull();
        Member b = member("b");
        assertThat(b.ask(0, 0).others()).extracting(Other::holds).containsExactly(4);
        assertThat(b.ask("fax", 0, 0).others()).extracting(Other::holds).containsExactly(2);
    }

    @Test
    void namesMayHaveAnyCharacters() throws Exception {
        List<String> limits = List.of(
                "a",
                "a-b",
                "a_b",
                "a.b",
                "a.b_c-D9",
                "0",
                "a:key",
                "a:Key",
                "a:{b}, 100 % 'c' \u65e5",
                "a:" + "k".repeat(200));
        List<String> members = List.of(
                "shop-7f8b9-x1",
                "x",
                "X",
                "shop, the 7th",
                " y",
                "limit",
                "member:a",
                "{a}:b",
                "100 % of 'a' \"b\" \\ ; --",
                "Gr\u00f6\u00dfe \u65e5\u672c");
        settle(limits.toArray(String[]::new));
        for (int i = 0; i < members.size(); i++) {
            List<Claim> claims = new ArrayList<>();
            for (String limit : limits) {
                claims.add(member(members.get(i)).permits(100).claim(limit, 0, i + 1));
            }
            assertThat(engine.exchange(claims)).extracting(Answer::share).containsOnly(i + 1);
        }

        List<Claim> claims = new ArrayList<>();
        for (String limit : limits) {
            claims.add(member("last").permits(100).claim(limit, 0, 0));
        }
        List<Answer> answers = engine.exchange(claims);

        assertThat(answers).hasSameSizeAs(limits).allSatisfy(answer -> {
            assertThat(answer.others()).extracting(Other::member).containsExactlyInAnyOrderElementsOf(members);
            assertThat(answer.others())
                    .allSatisfy(other -> assertThat(other.holds()).isEqualTo(members.indexOf(other.member()) + 1));
        });
    }

    // Data that may be lost

    @Test
    void aNewLimitLendsNothingForTheTimeOfALease() throws Exception {
        Member a = member("a").lease(MEDIUM);

        Answer first = a.ask("new", 0, 4);
        assertThat(first.share()).isEqualTo(0);
        assertThat(first.noGrowthFor()).isEqualTo(MEDIUM);
        assertThat(member("b").ask("new", 1, 2).share()).as("another member").isEqualTo(1);
        pass(MEDIUM);

        assertThat(a.away(MEDIUM).ask("new", 0, 4).share()).isEqualTo(4);
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseAfterDataWereLost() throws Exception {
        Member a = member("a");
        Member b = member("b");
        a.ask(0, 5);
        b.ask(0, 3);
        loseData();

        Answer first = a.ask(5, 9);
        assertThat(first.share()).as("lends what is held").isEqualTo(5);
        assertThat(first.noGrowthFor()).isEqualTo(LONG);

        assertThat(b.ask(3, 5).share()).isEqualTo(3);
        assertThat(a.ask(5, 9).share()).isEqualTo(5);
        assertThat(member("c").ask(0, 1).share()).as("a new member").isZero();
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseAfterDataWereRestored() throws Exception {
        Member a = member("a");
        Member b = member("b");
        Member c = member("c");
        a.ask(0, 1);
        b.ask(0, 1);
        Runnable restore = backup();
        b.ask(1, 5);
        restore.run();

        Answer answer = b.ask(5, 9);

        assertThat(answer.share()).as("lends what is held").isEqualTo(5);
        assertThat(answer.noGrowthFor()).isEqualTo(LONG);
        assertThat(a.ask(1, 2).share()).as("a member that has lost nothing").isEqualTo(1);
        assertThat(c.ask(0, 1).share()).as("a new member").isZero();
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseAfterAnotherServerHasTakenOver() throws Exception {
        Member a = member("a");
        a.ask(0, 5);
        changeServer();

        Answer first = a.lease(MEDIUM).ask(5, 9);
        assertThat(first.share()).isEqualTo(5);
        assertThat(first.noGrowthFor()).isEqualTo(MEDIUM);
        pass(MEDIUM);

        assertThat(a.lease(LONG).ask(5, 9).share()).as("it is the same since").isEqualTo(9);
    }

    @Test
    void aMemberThatLeavesANewLimitAtOnceStoresNothing() throws Exception {
        member("a").leave("new");

        Answer answer = member("b").ask("new", 0, 4);

        assertThat(answer.noGrowthFor()).as("it is still new").isEqualTo(LONG);
    }

    @Test
    void noShareGrowsAfterDataWereLostAlsoIfANewMemberComesFirst() throws Exception {
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
        engine.exchange(List.of(goodbye(LIMIT, "a", Long.MAX_VALUE)));
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

    /** Time of the engine: a member that never stays asks. */
    private long now() throws Exception {
        return engine.exchange(List.of(goodbye("clock", "clock", 1))).getFirst().now();
    }

    final Member member(String name) {
        return new Member(name);
    }

    /** The last answer to a member. */
    private record Answered(long number, long at) {}

    /** Claims what a test says, and remembers what it was answered last. */
    final class Member {

        private final String name;
        private int permits = PERMITS;
        private int wants;
        private Duration turn = Duration.ZERO;
        private Duration lease = LONG;
        private Duration age = Duration.ZERO;
        private boolean isAgeSet;
        long number;
        private final Map<String, Answered> answered = new HashMap<>();

        Member(String name) {
            this.name = name;
        }

        Member permits(int number) {
            permits = number;
            return this;
        }

        Member lease(Duration time) {
            lease = time;
            return this;
        }

        /** In its next claim it says that its last answer came so long ago. */
        Member away(Duration time) {
            age = time;
            isAgeSet = true;
            return this;
        }

        Answer ask(int holds, int asks) throws Exception {
            return ask(LIMIT, holds, asks);
        }

        Answer ask(String limit, int holds, int asks) throws Exception {
            Answer answer = told(claim(limit, holds, asks));
            answered.put(limit, new Answered(number, answer.now()));
            return answer;
        }

        /** The claim comes, the answer does not. */
        void unanswered(int holds, int asks) throws Exception {
            told(claim(LIMIT, holds, asks));
        }

        Answer leave() throws Exception {
            return leave(LIMIT);
        }

        Answer leave(String limit) throws Exception {
            lease = Duration.ZERO;
            return told(claim(limit, 0, 0));
        }

        Claim claim(String limit, int holds, int asks) throws Exception {
            Answered last = answered.getOrDefault(limit, new Answered(0, 0));
            if (last.number > 0 && !isAgeSet) {
                age = Duration.ofMillis(now() - last.at);
            }
            isAgeSet = false;
            int wanted = wants == 0 ? asks : wants;
            return new Claim(
                    limit,
                    name,
                    ++number,
                    last.number,
                    age,
                    Duration.ZERO,
                    permits,
                    0,
                    holds,
                    wanted,
                    asks,
                    turn,
                    lease);
        }

        private Answer told(Claim claim) throws Exception {
            List<Answer> answers = engine.exchange(List.of(claim));
            assertThat(answers).hasSize(1);
            assertThat(answers.getFirst().refusal()).isNull();
            return answers.getFirst();
        }
    }
}
