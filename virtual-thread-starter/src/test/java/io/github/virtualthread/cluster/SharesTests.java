package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer.Other;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who ought to have how many, for a thousand mixtures of wants. */
class SharesTests {

    private static final int SEEDS = 1_000;
    private static final long BEAT = 100;
    private static final long NOW = 1_700_000_000_123L;
    private static final long LONG_AGO = NOW - 60_000;

    @FunctionalInterface
    private interface Check {

        void check(List<Other> members, int permits, Map<String, Integer> fair);
    }

    @Test
    void sharesAreNeverMoreThanThePermits() {
        forAll((members, permits, fair) -> assertThat(sum(fair)).isLessThanOrEqualTo(permits));
    }

    @Test
    void permitsThatSomebodyWantsAreAllSharedButForWhatOthersStillHold() {
        forAll((members, permits, fair) -> {
            if (wants(members) >= permits) {
                int given = members.stream()
                        .mapToInt(member -> Math.max(0, member.holds() - fair.get(member.member())))
                        .sum();
                assertThat(sum(fair) + given).isGreaterThanOrEqualTo(permits);
            }
        });
    }

    /** Max-min fair: who has less than it wants has as many as anybody else, but for one of those that cannot be divided. */
    @Test
    void nobodyHasMoreThanOneWhoWantsMore() {
        forAll((members, permits, fair) -> {
            int most = fair.values().stream().mapToInt(Integer::intValue).max().orElse(0);
            for (Other member : members) {
                if (fair.get(member.member()) < member.wants()) {
                    assertThat(fair.get(member.member())).isGreaterThanOrEqualTo(most - 1);
                }
            }
        });
    }

    @Test
    void nobodyHasLessThanItsPartIfItWantsIt() {
        forAll((members, permits, fair) -> {
            for (Other member : members) {
                assertThat(fair.get(member.member()))
                        .isGreaterThanOrEqualTo(Math.min(member.wants(), permits / members.size()));
            }
        });
    }

    @Test
    void halfOfWhatNobodyWantsIsLentAhead() {
        forAll((members, permits, fair) -> {
            int left = permits - wants(members);
            if (left >= 0) {
                int ahead = left / (2 * members.size());
                members.forEach(member -> assertThat(fair).containsEntry(member.member(), member.wants() + ahead));
                assertThat(permits - sum(fair)).as("for who needs it first").isGreaterThanOrEqualTo(left / 2);
            }
        });
    }

    @Test
    void whoIsHungryHasMoreOnlyWhileItIsItsTurn() {
        forAll((members, permits, fair) -> {
            for (Other member : members) {
                Shares share = Shares.fair(members, member.member(), permits, NOW, BEAT);
                if (share.isHungry()) {
                    assertThat(share.fair()).isBetween(share.even(), share.even() + 1);
                    assertThat(share.even()).isLessThan(member.wants());
                } else {
                    assertThat(share.fair()).isGreaterThanOrEqualTo(member.wants());
                }
            }
        });
    }

    @Test
    void theOrderOfTheMembersDoesNotMatter() {
        forAll((members, permits, fair) ->
                assertThat(fair(members.reversed(), permits)).isEqualTo(fair));
    }

    /** Each has what is fair at once, and what cannot be divided is handed over when a turn is over. */
    @Test
    void whatCannotBeDividedGoesToAllEquallyOften() {
        for (int members = 2; members <= 7; members++) {
            for (int permits = 1; permits < 3 * members; permits++) {
                IntSummaryStatistics had = Arrays.stream(had(members, permits)).summaryStatistics();
                assertThat(had.getMin())
                        .as("%d permits, %d members: %s", permits, members, had)
                        .isGreaterThanOrEqualTo(had.getMax() * 9 / 10);
            }
        }
    }

    /** How many permits each has had. Of those who change at the same time, another one is the first each time. */
    private static int[] had(int count, int permits) {
        int even = permits / count;
        long turn = even == 0 ? 2 * BEAT : 5 * BEAT;
        int[] had = new int[count];
        List<Other> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add(member("shop-" + i, 100, 0, NOW - turn - i, NOW));
        }
        for (int round = 0; round < 420; round++) {
            long now = NOW + round * turn;
            List<Other> before = List.copyOf(members);
            for (int i = 0; i < count; i++) {
                Other member = before.get(i);
                int share =
                        Shares.fair(before, member.member(), permits, now, BEAT).fair();
                had[i] += share;
                boolean isTheSame = share > even == member.holds() > even;
                long since = isTheSame ? member.since() : now - (i + round) % count;
                members.set(i, member(member.member(), 100, share, since, now));
            }
        }
        return had;
    }

    @Test
    void thoseWhoHaveWaitedLongestGetWhatCannotBeDivided() {
        List<Other> members = List.of(
                member("a", 9, 1, NOW - 100, NOW),
                member("b", 9, 1, NOW - 300, NOW),
                member("c", 9, 1, NOW - 200, NOW));

        assertThat(fair(members, 4)).isEqualTo(Map.of("a", 1, "b", 2, "c", 1));
        assertThat(fair(members, 5)).isEqualTo(Map.of("a", 1, "b", 2, "c", 2));
    }

    @Test
    void theirNamesDecideBetweenThoseWhoHaveWaitedAsLong() {
        List<Other> members = List.of(member("b", 9, 0, NOW, NOW), member("a", 9, 0, NOW, NOW));

        assertThat(fair(members, 1)).isEqualTo(Map.of("a", 1, "b", 0));
    }

    /** Five beats and half a second at least where each has a permit, two beats where others have nothing. */
    @ParameterizedTest
    @CsvSource({"3, 1, 100, 500", "3, 1, 10, 500", "3, 1, 1000, 5000", "1, 0, 100, 200"})
    void whoHasAPermitKeepsItForItsTurnAndThenGivesWay(int permits, int even, long beat, long turn) {
        Other waits = waits("a", even);

        assertThat(fair(List.of(waits, has("b", even + 1, turn - 1)), permits, beat))
                .isEqualTo(Map.of("a", even, "b", even + 1));
        assertThat(fair(List.of(waits, has("b", even + 1, turn)), permits, beat))
                .isEqualTo(Map.of("a", even + 1, "b", even));
    }

    @Test
    void whoHasHadItsTurnKeepsItWhileNobodyWaits() {
        List<Other> members = List.of(member("a", 0, 0, NOW, NOW), has("b", 1, 60_000));

        assertThat(fair(members, 1)).isEqualTo(Map.of("a", 0, "b", 1));
    }

    /** It is slow, away, or dead: until its lease is over, nobody would have the permit. */
    @Test
    void aMemberThatHasNotClaimedLatelyIsNotWaitedFor() {
        Other late = member("a", 9, 0, LONG_AGO, NOW - 501);
        Other hungry = waits("b", 0);

        assertThat(Shares.fair(List.of(late, hungry), "b", 1, NOW, BEAT).fair()).isEqualTo(1);
        Other inTime = member("a", 9, 0, LONG_AGO, NOW - 500);
        assertThat(Shares.fair(List.of(inTime, hungry), "b", 1, NOW, BEAT).fair())
                .isZero();
        assertThat(Shares.fair(List.of(late, hungry), "b", 1, NOW, 1_000).fair())
                .as("it has five beats")
                .isZero();
    }

    @Test
    void whoHasNotClaimedLatelyWaitsForOthersAllTheSame() {
        Other late = member("a", 9, 0, LONG_AGO, NOW - 501);

        assertThat(Shares.fair(List.of(late, waits("b", 0)), "a", 1, NOW, BEAT).fair())
                .as("it has waited longest")
                .isEqualTo(1);
        assertThat(Shares.fair(List.of(late, has("b", 1, 0)), "a", 1, NOW, BEAT).fair())
                .isZero();
    }

    /** Its calls may still run. */
    @Test
    void whatAMemberHoldsThatHasNotClaimedLatelyIsNotFree() {
        Other holds = member("a", 9, 1, NOW - 100, NOW - 60_000);

        assertThat(Shares.fair(List.of(holds, waits("b", 0)), "b", 1, NOW, BEAT).fair())
                .isZero();
    }

    @Test
    void oneMemberAloneMayHaveAll() {
        assertThat(fair(List.of(waits("a", 0, 25)), 20)).isEqualTo(Map.of("a", 20));
        assertThat(fair(List.of(waits("a", 0, 6)), 20)).isEqualTo(Map.of("a", 13));
        assertThat(fair(List.of(waits("a", 0, 0)), 1)).isEqualTo(Map.of("a", 0));
    }

    private static Other member(String name, int wants, int holds, long since, long claimed) {
        return new Other(name, holds, wants, 0, since, claimed);
    }

    private static Other waits(String name, int holds) {
        return waits(name, holds, 9);
    }

    private static Other waits(String name, int holds, int wants) {
        return member(name, wants, holds, NOW - 10, NOW);
    }

    private static Other has(String name, int holds, long since) {
        return member(name, 9, holds, NOW - since, NOW);
    }

    private static void forAll(Check check) {
        for (int seed = 0; seed < SEEDS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int count = 1 + random.nextInt(12);
            int permits = 1 + random.nextInt(random.nextBoolean() ? 5 : 50);
            int most = 1 + random.nextInt(3 * permits / count + 2);
            List<Other> members = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                String name = "shop-" + random.nextInt(100) + "-" + i;
                long since = NOW - random.nextInt(1_000);
                long claimed = NOW - random.nextInt(500);
                members.add(member(name, random.nextInt(most + 1), random.nextInt(most + 1), since, claimed));
            }
            check.check(members, permits, fair(members, permits));
        }
    }

    private static Map<String, Integer> fair(List<Other> members, int permits) {
        return fair(members, permits, BEAT);
    }

    private static Map<String, Integer> fair(List<Other> members, int permits, long beat) {
        Map<String, Integer> fair = new HashMap<>();
        for (Other member : members) {
            fair.put(
                    member.member(),
                    Shares.fair(members, member.member(), permits, NOW, beat).fair());
        }
        return fair;
    }

    private static int wants(List<Other> members) {
        return members.stream().mapToInt(Other::wants).sum();
    }

    private static int sum(Map<String, Integer> numbers) {
        return numbers.values().stream().mapToInt(Integer::intValue).sum();
    }
}
