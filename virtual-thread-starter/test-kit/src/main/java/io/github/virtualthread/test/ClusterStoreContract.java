package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Answer.Other;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The part of the {@link ClusterEngineContract} that depends on the server: its clock, the names and numbers that it gives back,
 * several limits at once, members at the same time, and data that are lost.
 *
 * <p>An engine passes the whole contract with one client and one server. Extend this class to test it with another client, another
 * version of the server, or other settings.
 *
 * <p>Members that have to live through a test have a lease of an hour; those that have to be gone have a short one, which the test
 * lets pass by the time of the engine.
 */
@Timeout(300)
public abstract class ClusterStoreContract {

    /** Lease of members that live through a test. */
    protected static final Duration LONG = Duration.ofHours(1);

    /** Lease of members that are gone at the end of {@link #pass}. */
    protected static final Duration SHORT = Duration.ofMillis(50);

    /** Of members that claim again when it is over: so slow is no server that half of it goes by beside the test. */
    static final Duration MEDIUM = Duration.ofSeconds(1);

    private static final Duration AT_ONCE = Duration.ofMillis(1);
    static final String LIMIT = "partner";
    static final int PERMITS = 10;

    ClusterEngine engine;

    /** For the tests of an engine. */
    protected ClusterStoreContract() {}

    /**
     * Returns an engine without any data. Called once for each test.
     *
     * @return the engine
     * @throws Exception if the server fails
     */
    protected abstract ClusterEngine engine() throws Exception;

    /**
     * Deletes all that the engine has stored, as a server does that restarts empty.
     *
     * @throws Exception if the server fails
     */
    protected abstract void loseData() throws Exception;

    /**
     * Returns what replaces all that the engine has stored by what it has now.
     *
     * @return puts the data of now back
     * @throws Exception if the server fails
     */
    protected abstract Runnable backup() throws Exception;

    /**
     * Lets the data be those of another server process.
     *
     * @throws Exception if the server fails
     */
    protected abstract void changeServer() throws Exception;

    /**
     * Whether the engine can tell one server process from another.
     *
     * @return true unless overridden
     */
    protected boolean knowsItsServer() {
        return true;
    }

    /**
     * Whether a limit without data may be one whose data were lost.
     *
     * @return true unless overridden
     */
    protected boolean mayBeLost() {
        return true;
    }

    /**
     * Returns when so much time has passed on the clock of the engine.
     *
     * @param duration the time
     * @throws Exception if the server fails
     */
    protected void pass(Duration duration) throws Exception {
        long over = now() + duration.toMillis();
        while (now() < over) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /**
     * Number of claims of each of the threads that claim at the same time.
     *
     * @return 1,000 unless overridden
     */
    protected int claims() {
        return 1_000;
    }

    @BeforeEach
    void begin() throws Exception {
        engine = engine();
        settle(engine, LIMIT, "mail", "fax");
    }

    /**
     * From now on, these limits are not new.
     *
     * @param engine the engine
     * @param limits names of limits
     * @throws Exception if the server fails
     */
    protected final void settle(ClusterEngine engine, String... limits) throws Exception {
        for (long number = 1; number <= 2; number++) {
            List<Claim> claims = new ArrayList<>();
            for (String limit : limits) {
                Duration lease = number == 1 ? AT_ONCE : Duration.ZERO;
                claims.add(new Claim(
                        limit,
                        "settler",
                        number,
                        0,
                        Duration.ZERO,
                        Duration.ZERO,
                        PERMITS,
                        0,
                        0,
                        0,
                        0,
                        Duration.ZERO,
                        lease));
            }
            engine.exchange(claims);
            pass(AT_ONCE);
        }
    }

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
    void allMembersHaveOneClock() throws Exception {
        long first = member("a").ask(0, 1).now();
        pass(SHORT);
        long second = member("b").ask(0, 1).now();

        assertThat(second - first).isBetween(SHORT.toMillis(), LONG.toMillis());
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
        settle(engine, limits.toArray(String[]::new));
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

    @Test
    void aNewLimitLendsNothingForTheTimeOfALease() throws Exception {
        Member a = member("a").lease(MEDIUM);

        Answer first = a.ask("new", 0, 4);
        assertThat(first.share()).isEqualTo(mayBeLost() ? 0 : 4);
        assertThat(first.noGrowthFor()).isEqualTo(mayBeLost() ? MEDIUM : Duration.ZERO);
        assertThat(member("b").ask("new", 1, 2).share()).as("another member").isEqualTo(mayBeLost() ? 1 : 2);
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
        assumeTrue(knowsItsServer(), "the server does not say which one it is");
        Member a = member("a");
        a.ask(0, 5);
        changeServer();

        Answer first = a.lease(MEDIUM).ask(5, 9);
        assertThat(first.share()).isEqualTo(5);
        assertThat(first.noGrowthFor()).isEqualTo(MEDIUM);
        pass(MEDIUM);

        assertThat(a.lease(LONG).ask(5, 9).share()).as("it is the same since").isEqualTo(9);
    }

    /** A member with two limits and no policy. */
    private final class Claimer {

        private static final List<String> LIMITS = List.of("mail", "partner");

        private final String member;
        private final Random random;
        private final AtomicInteger full;
        private final int[] shares = new int[LIMITS.size()];
        private final long[] last = new long[LIMITS.size()];

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
                look(order.get(i), claims.get(i), answers.get(i));
            }
        }

        private void look(int limit, Claim claim, Answer answer) {
            assertThat(answer.refusal()).isNull();
            int lent = (claim.leaves() ? 0 : answer.share())
                    + answer.others().stream().mapToInt(Other::holds).sum();
            assertThat(lent).as("permits lent after %s: %s", claim, answer).isLessThanOrEqualTo(PERMITS);
            assertThat(answer.noGrowthFor()).isZero();
            assertThat(answer.share()).isBetween(claim.holds(), Math.max(claim.holds(), claim.asks()));
            if (lent == PERMITS) {
                full.incrementAndGet();
            }
            shares[limit] = claim.leaves() ? 0 : answer.share();
            last[limit] = claim.leaves() ? 0 : claim.number();
        }

        private Claim claim(int limit, long n) {
            boolean leaves = random.nextInt(20) == 0;
            int holds = leaves ? 0 : random.nextInt(shares[limit] + 1);
            int asks = leaves ? 0 : random.nextInt(PERMITS + 1);
            Duration lease = leaves ? Duration.ZERO : LONG;
            return new Claim(
                    LIMITS.get(limit),
                    member,
                    n,
                    last[limit],
                    Duration.ZERO,
                    Duration.ZERO,
                    PERMITS,
                    0,
                    holds,
                    asks,
                    asks,
                    Duration.ZERO,
                    lease);
        }
    }

    /** Time of the engine: a member that never stays asks. */
    private long now() throws Exception {
        return engine.exchange(List.of(new Claim(
                        "clock",
                        "clock",
                        1,
                        0,
                        Duration.ZERO,
                        Duration.ZERO,
                        1,
                        0,
                        0,
                        0,
                        0,
                        Duration.ZERO,
                        Duration.ZERO)))
                .getFirst()
                .now();
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
