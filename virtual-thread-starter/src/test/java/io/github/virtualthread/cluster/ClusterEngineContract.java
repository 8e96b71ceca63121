package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer.Other;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What each engine has to do, whatever its server. Members that have to live through a test have a lease of an hour; those that have
 * to be gone have a short one, which the test lets pass by the time of the engine.
 */
@Timeout(300)
public abstract class ClusterEngineContract {

    protected static final Duration LONG = Duration.ofHours(1);
    protected static final Duration SHORT = Duration.ofMillis(50);

    private static final String LIMIT = "partner";
    private static final int PERMITS = 10;

    private final AtomicLong number = new AtomicLong();
    private ClusterEngine engine;

    /** Returns an engine without any data. Called once for each test. */
    protected abstract ClusterEngine engine() throws Exception;

    /** Deletes all that the engine has stored, as a server does that restarts empty. */
    protected abstract void loseData() throws Exception;

    /** Returns when so much time has passed on the clock of the engine. */
    protected void pass(Duration duration) throws Exception {
        long over = now() + duration.toMillis();
        while (now() < over) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** Number of claims of each of the threads that claim at the same time. */
    protected int claims() {
        return 1_000;
    }

    @BeforeEach
    void begin() throws Exception {
        engine = engine();
    }

    @Test
    void lendsWhatIsFree() throws Exception {
        Answer answer = ask("a", 0, 4);

        assertThat(answer.share()).isEqualTo(4);
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.epoch()).isNotEmpty();
        assertThat(answer.others()).isEmpty();
        assertThat(ask("b", 0, 6).share()).isEqualTo(6);
    }

    @Test
    void lendsNoMoreThanIsFree() throws Exception {
        ask("a", 0, 7);

        assertThat(ask("b", 0, 7).share()).isEqualTo(3);
        assertThat(ask("b", 3, 7).share()).isEqualTo(3);
        assertThat(ask("c", 0, 1).share()).isZero();
        assertThat(ask("a", 7, 11).share()).isEqualTo(7);
    }

    @Test
    void lendsNoMoreThanThePermitsToAMemberThatIsAlone() throws Exception {
        assertThat(ask("a", 0, PERMITS + 1).share()).isEqualTo(PERMITS);
    }

    @Test
    void doesNotTakeWhatIsHeld() throws Exception {
        ask("a", 0, 7);

        assertThat(ask("a", 7, 2).share()).isEqualTo(7);
        assertThat(ask("b", 5, 5).share()).as("holds more than is free").isEqualTo(5);
        assertThat(ask("b", 5, 9).share())
                .as("holds more than is free, asks for more")
                .isEqualTo(5);
        assertThat(ask("a", 7, 8).others()).containsExactly(new Other("b", 5, 9, PERMITS));
    }

    @Test
    void lendsWhatAnotherMemberGivesBack() throws Exception {
        ask("a", 0, 10);
        ask("a", 4, 4);

        assertThat(ask("b", 0, 10).share()).isEqualTo(6);
    }

    @Test
    void countsWhatAMemberHoldsOnlyOnce() throws Exception {
        ask("a", 0, 4);

        Answer answer = ask("a", 4, 8);

        assertThat(answer.share()).as("its own permits are not counted twice").isEqualTo(8);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void answersWithTheOtherMembersAsTheyToldLast() throws Exception {
        exchange(new Claim(LIMIT, "a", next(), "", 10, 0, 99, 4, LONG));
        exchange(new Claim(LIMIT, "b", next(), "", 12, 0, 3, 2, LONG));

        Answer answer = exchange(new Claim(LIMIT, "c", next(), "", 11, 0, 0, 0, LONG));

        assertThat(answer.others()).containsExactlyInAnyOrder(new Other("a", 4, 99, 10), new Other("b", 2, 3, 12));
    }

    @Test
    void allMembersHaveOneClock() throws Exception {
        long first = ask("a", 0, 1).now();
        pass(SHORT);
        long second = ask("b", 0, 1).now();

        assertThat(second - first).isBetween(SHORT.toMillis(), LONG.toMillis());
    }

    @Test
    void allMembersHaveOneEpoch() throws Exception {
        String epoch = ask("a", 0, 1).epoch();

        assertThat(ask("b", 0, 1).epoch()).isEqualTo(epoch);
        assertThat(exchange(claim("a", next(), epoch, 1, 1, LONG)).epoch()).isEqualTo(epoch);
    }

    @Test
    void whatAMemberHoldsIsFreeWhenItsLeaseIsOver() throws Exception {
        exchange(claim("a", next(), "", 0, 7, SHORT));
        ask("b", 0, 1);
        pass(SHORT);

        Answer answer = ask("b", 1, 10);

        assertThat(answer.share()).isEqualTo(10);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void aLeaseBeginsAnewWithEachClaim() throws Exception {
        exchange(claim("a", next(), "", 0, 7, SHORT));
        ask("a", 7, 7);
        pass(SHORT);

        assertThat(ask("b", 0, 10).share()).isEqualTo(3);
    }

    @Test
    void aMemberWhoseLeaseIsOverComesBack() throws Exception {
        exchange(claim("a", next(), "", 0, 7, SHORT));
        pass(SHORT);
        ask("b", 0, 10);

        Answer answer = ask("a", 2, 7);

        assertThat(answer.share()).as("the calls that it still runs").isEqualTo(2);
        assertThat(ask("b", 10, 10).others()).containsExactly(new Other("a", 2, 7, PERMITS));
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 4, 0})
    void refusesAClaimThatComesLate(long late) throws Exception {
        exchange(claim("a", 5, "", 0, 7, LONG));

        assertThatThrownBy(() -> exchange(claim("a", late, "", 0, 0, LONG))).isNotNull();
        assertThatThrownBy(() -> exchange(claim("a", late, "", 0, 0, Duration.ZERO)))
                .as("a goodbye")
                .isNotNull();

        assertThat(ask("b", 0, 10).others()).containsExactly(new Other("a", 7, 7, PERMITS));
        assertThat(exchange(claim("a", 6, "", 7, 7, LONG)).share()).isEqualTo(7);
    }

    @Test
    void numbersMayBeAnyLong() throws Exception {
        exchange(claim("a", 9, "", 0, 1, LONG));
        exchange(claim("a", 10, "", 1, 2, LONG));
        exchange(claim("a", (1L << 53) + 1, "", 2, 3, LONG));
        exchange(claim("a", Long.MAX_VALUE - 1, "", 3, 4, LONG));
        exchange(claim("a", Long.MAX_VALUE, "", 4, 5, LONG));

        assertThatThrownBy(() -> exchange(claim("a", Long.MAX_VALUE - 1, "", 0, 0, LONG)))
                .isNotNull();

        assertThat(ask("b", 0, 10).share()).isEqualTo(5);
    }

    @Test
    void numbersOfOneMemberSayNothingOfAnother() throws Exception {
        exchange(claim("a", 5, "", 0, 1, LONG));

        assertThat(exchange(claim("b", 1, "", 0, 1, LONG)).share()).isEqualTo(1);
    }

    @Test
    void aGoodbyeFreesWhatTheMemberHeld() throws Exception {
        ask("a", 0, 10);
        exchange(claim("a", next(), "", 0, 0, Duration.ZERO));

        Answer answer = ask("b", 0, 10);

        assertThat(answer.share()).isEqualTo(10);
        assertThat(answer.others()).isEmpty();
    }

    @Test
    void aGoodbyeIsAnswered() throws Exception {
        String epoch = ask("a", 0, 3).epoch();
        ask("b", 0, 2);

        Answer answer = exchange(claim("a", next(), epoch, 0, 0, Duration.ZERO));

        assertThat(answer.share()).isZero();
        assertThat(answer.epoch()).isEqualTo(epoch);
        assertThat(answer.permits()).isEqualTo(PERMITS);
        assertThat(answer.others()).containsExactly(new Other("b", 2, 2, PERMITS));
    }

    @Test
    void aGoodbyeOfAnUnknownMemberChangesNothing() throws Exception {
        ask("b", 0, 2);

        exchange(claim("a", next(), "", 0, 0, Duration.ZERO));

        assertThat(ask("b", 2, 10).share()).isEqualTo(10);
    }

    @Test
    void theSmallestNumberOfPermitsOfTheLivingCounts() throws Exception {
        exchange(permits("a", 10, 0, 4, LONG));

        Answer lower = exchange(permits("b", 6, 0, 6, LONG));
        assertThat(lower.share()).isEqualTo(2);
        assertThat(lower.permits()).isEqualTo(6);

        Answer higher = exchange(permits("a", 10, 4, 10, LONG));
        assertThat(higher.share()).as("what it holds").isEqualTo(4);
        assertThat(higher.permits()).isEqualTo(6);
        assertThat(higher.others()).containsExactly(new Other("b", 2, 6, 6));
    }

    @Test
    void theGreaterNumberCountsWhenTheMemberOfTheSmallestSaysIt() throws Exception {
        exchange(permits("a", 10, 0, 4, LONG));
        exchange(permits("b", 6, 0, 1, LONG));
        exchange(permits("b", 10, 1, 1, LONG));

        Answer answer = exchange(permits("a", 10, 4, 10, LONG));

        assertThat(answer.permits()).isEqualTo(10);
        assertThat(answer.share()).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theGreaterNumberCountsWhenTheMemberOfTheSmallestIsGone(boolean goodbye) throws Exception {
        exchange(permits("a", 10, 0, 4, LONG));
        exchange(permits("b", 6, 0, 2, SHORT));
        if (goodbye) {
            exchange(permits("b", 6, 0, 0, Duration.ZERO));
        } else {
            pass(SHORT);
        }

        Answer answer = exchange(permits("a", 10, 4, 10, LONG));

        assertThat(answer.permits()).isEqualTo(10);
        assertThat(answer.share()).isEqualTo(10);
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseAfterDataWereLost() throws Exception {
        String old = ask("a", 0, 5).epoch();
        exchange(claim("b", next(), old, 0, 3, LONG));
        loseData();

        Answer first = exchange(claim("a", next(), old, 5, 9, LONG));
        assertThat(first.share()).as("lends what is held").isEqualTo(5);
        assertThat(first.epoch()).isNotEmpty().isNotEqualTo(old);

        Answer second = exchange(claim("b", next(), old, 3, 5, LONG));
        assertThat(second.share()).isEqualTo(3);
        assertThat(second.epoch()).isEqualTo(first.epoch());

        assertThat(exchange(claim("a", next(), first.epoch(), 5, 9, LONG)).share())
                .isEqualTo(5);
        assertThat(ask("c", 0, 1).share()).as("a new member").isZero();
    }

    @Test
    void sharesGrowAgainWhenThatLeaseIsOver() throws Exception {
        String old = ask("a", 0, 5).epoch();
        loseData();
        String epoch = exchange(claim("a", next(), old, 5, 9, SHORT)).epoch();
        pass(SHORT);

        assertThat(exchange(claim("a", next(), epoch, 5, 9, LONG)).share()).isEqualTo(9);
    }

    @Test
    void theLongestLeaseCountsAfterDataWereLost() throws Exception {
        String old = ask("a", 0, 5).epoch();
        loseData();
        exchange(claim("a", next(), old, 5, 9, LONG));
        exchange(claim("b", next(), old, 2, 2, SHORT));
        exchange(claim("b", next(), old, 0, 0, Duration.ZERO));
        pass(SHORT);

        assertThat(ask("c", 0, 1).share()).isZero();
    }

    @Test
    void sharesGrowAtOnceWhenNobodyHasAnEpoch() throws Exception {
        String old = ask("a", 0, 5).epoch();
        loseData();

        Answer answer = ask("a", 0, 5);

        assertThat(answer.share()).isEqualTo(5);
        assertThat(answer.epoch()).isNotEqualTo(old);
    }

    @Test
    void noShareGrowsForTheTimeOfALeaseWhenAMemberComesWithAForeignEpoch() throws Exception {
        String epoch = ask("a", 0, 5).epoch();

        Answer alone = exchange(claim("b", next(), "alone", 2, 4, LONG));

        assertThat(alone.share()).isEqualTo(2);
        assertThat(alone.epoch()).as("the members that stayed keep theirs").isEqualTo(epoch);
        assertThat(exchange(claim("a", next(), epoch, 5, 6, LONG)).share()).isEqualTo(5);
        assertThat(exchange(claim("b", next(), epoch, 2, 4, LONG)).share()).isEqualTo(2);
    }

    @Test
    void aForeignEpochHoldsUpItsOwnLimitOnly() throws Exception {
        exchange(claim("b", next(), "alone", 2, 4, LONG));

        assertThat(exchange(of("mail", "b", next(), 10, 0, 4)).share()).isEqualTo(4);
    }

    @Test
    void answersEachOfSeveralClaimsInTheirOrder() throws Exception {
        engine.exchange(List.of(of("mail", "a", next(), 8, 0, 1), of("partner", "a", next(), 10, 0, 4)));

        List<Answer> answers = engine.exchange(List.of(
                of("partner", "b", next(), 10, 0, 10),
                of("fax", "b", next(), 3, 0, 9),
                of("mail", "b", next(), 8, 0, 2)));

        assertThat(answers).extracting(Answer::share).containsExactly(6, 3, 2);
        assertThat(answers).extracting(Answer::permits).containsExactly(10, 3, 8);
        assertThat(answers)
                .extracting(Answer::others)
                .containsExactly(List.of(new Other("a", 4, 4, 10)), List.of(), List.of(new Other("a", 1, 1, 8)));
    }

    @Test
    void oneClaimThatComesLateRefusesAllOfAnExchange() throws Exception {
        engine.exchange(List.of(of("mail", "a", 5, 10, 0, 4), of("partner", "a", 9, 10, 0, 4)));

        assertThatThrownBy(
                        () -> engine.exchange(List.of(of("mail", "a", 6, 10, 0, 0), of("partner", "a", 9, 10, 0, 0))))
                .isNotNull();

        List<Answer> others = engine.exchange(List.of(of("mail", "b", 1, 10, 0, 0), of("partner", "b", 1, 10, 0, 0)));
        assertThat(others).extracting(Answer::others).containsOnly(List.of(new Other("a", 4, 4, 10)));
        assertThat(engine.exchange(List.of(of("mail", "a", 6, 10, 4, 5), of("partner", "a", 10, 10, 4, 5))))
                .extracting(Answer::share)
                .containsExactly(5, 5);
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
                "epoch",
                "member:a",
                "{a}:b",
                "100 % of 'a' \"b\" \\ ; --",
                "Gr\u00f6\u00dfe \u65e5\u672c");
        for (int i = 0; i < members.size(); i++) {
            List<Claim> claims = new ArrayList<>();
            for (String limit : limits) {
                claims.add(of(limit, members.get(i), 1, 100, 0, i + 1));
            }
            assertThat(engine.exchange(claims)).extracting(Answer::share).containsOnly(i + 1);
        }

        List<Answer> answers = engine.exchange(
                limits.stream().map(limit -> of(limit, "last", 1, 100, 0, 0)).toList());

        List<Other> all = new ArrayList<>();
        for (String member : members) {
            all.add(new Other(member, all.size() + 1, all.size() + 1, 100));
        }
        assertThat(answers).hasSameSizeAs(limits).allSatisfy(answer -> assertThat(answer.others())
                .containsExactlyInAnyOrderElementsOf(all));
    }

    /** Two limits in each exchange, now in this order and now in that: no thread may wait for another for ever. */
    @Test
    void neverLendsMoreThanThereIsWhateverIsClaimedAtTheSameTime() throws Exception {
        int threads = 8;
        CountDownLatch ready = new CountDownLatch(threads);
        AtomicInteger full = new AtomicInteger();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Claimer claimer = new Claimer("member-" + i, new Random(i), full);
                all.add(executor.submit(() -> {
                    ready.countDown();
                    ready.await();
                    for (int n = 1; n <= claims() / 2; n++) {
                        claimer.exchange(n);
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThat(full).as("answers when all was lent").hasPositiveValue();
    }

    /** A member with two limits and no policy. */
    private final class Claimer {

        private static final List<String> LIMITS = List.of("mail", "partner");

        private final String member;
        private final Random random;
        private final AtomicInteger full;
        private final int[] shares = new int[LIMITS.size()];
        private final String[] epochs = {"", ""};

        Claimer(String member, Random random, AtomicInteger full) {
            this.member = member;
            this.random = random;
            this.full = full;
        }

        void exchange(long n) throws Exception {
            List<Integer> order = new ArrayList<>(List.of(0, 1));
            Collections.shuffle(order, random);
            List<Claim> claims = order.stream().map(i -> claim(i, n)).toList();
            List<Answer> answers = engine.exchange(claims);
            for (int i = 0; i < claims.size(); i++) {
                int limit = order.get(i);
                Answer answer = answers.get(i);
                Claim claim = claims.get(i);
                boolean left = claim.lease().isZero();
                int recorded = (left ? 0 : answer.share())
                        + answer.others().stream().mapToInt(Other::holds).sum();
                assertThat(recorded)
                        .as("permits lent after %s: %s", claim, answer)
                        .isLessThanOrEqualTo(PERMITS);
                assertThat(answer.share()).isBetween(claim.holds(), Math.max(claim.holds(), claim.asks()));
                if (recorded == PERMITS) {
                    full.incrementAndGet();
                }
                shares[limit] = left ? 0 : answer.share();
                epochs[limit] = answer.epoch();
            }
        }

        private Claim claim(int limit, long n) {
            boolean leaves = random.nextInt(20) == 0;
            int holds = leaves ? 0 : random.nextInt(shares[limit] + 1);
            int asks = leaves ? 0 : random.nextInt(PERMITS + 1);
            Duration lease = leaves ? Duration.ZERO : LONG;
            return new Claim(LIMITS.get(limit), member, n, epochs[limit], PERMITS, holds, asks, asks, lease);
        }
    }

    /** Time of the engine: a member that never stays asks. */
    private long now() throws Exception {
        return exchange(new Claim("clock", "clock", next(), "", 1, 0, 0, 0, Duration.ZERO))
                .now();
    }

    private long next() {
        return number.incrementAndGet();
    }

    private Answer ask(String member, int holds, int asks) throws Exception {
        return exchange(claim(member, next(), "", holds, asks, LONG));
    }

    private Answer exchange(Claim claim) throws Exception {
        List<Answer> answers = engine.exchange(List.of(claim));
        assertThat(answers).hasSize(1);
        return answers.getFirst();
    }

    private Claim permits(String member, int permits, int holds, int asks, Duration lease) {
        return new Claim(LIMIT, member, next(), "", permits, holds, asks, asks, lease);
    }

    private static Claim of(String limit, String member, long number, int permits, int holds, int asks) {
        return new Claim(limit, member, number, "", permits, holds, asks, asks, LONG);
    }

    private static Claim claim(String member, long number, String epoch, int holds, int asks, Duration lease) {
        return new Claim(LIMIT, member, number, epoch, PERMITS, holds, asks, asks, lease);
    }
}
