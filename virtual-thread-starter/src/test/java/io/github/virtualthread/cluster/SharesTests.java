package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who ought to have how many, for a thousand mixtures of wants. */
class SharesTests {

    private static final int SEEDS = 1_000;

    @FunctionalInterface
    private interface Check {

        void check(Map<String, Integer> wants, int permits, long now, Map<String, Integer> fair);
    }

    @Test
    void sharesAreNeverMoreThanThePermits() {
        forAll((wants, permits, now, fair) -> assertThat(sum(fair)).isLessThanOrEqualTo(permits));
    }

    @Test
    void permitsThatSomebodyWantsAreAllShared() {
        forAll((wants, permits, now, fair) -> {
            if (sum(wants) >= permits) {
                assertThat(sum(fair)).isEqualTo(permits);
            }
        });
    }

    /** Max-min fair: who has less than it wants has as many as anybody else, but for one of those that cannot be divided. */
    @Test
    void nobodyHasMoreThanOneWhoWantsMore() {
        forAll((wants, permits, now, fair) -> {
            int most = fair.values().stream().mapToInt(Integer::intValue).max().orElse(0);
            wants.forEach((member, wanted) -> {
                if (fair.get(member) < wanted) {
                    assertThat(fair.get(member)).isGreaterThanOrEqualTo(most - 1);
                }
            });
        });
    }

    @Test
    void nobodyHasLessThanItsPartIfItWantsIt() {
        forAll((wants, permits, now, fair) -> wants.forEach((member, wanted) ->
                assertThat(fair.get(member)).isGreaterThanOrEqualTo(Math.min(wanted, permits / wants.size()))));
    }

    @Test
    void nobodyHasMoreThanItWantsWhileOthersWantMore() {
        forAll((wants, permits, now, fair) -> {
            if (sum(wants) >= permits) {
                wants.forEach((member, wanted) -> assertThat(fair.get(member)).isLessThanOrEqualTo(wanted));
            }
        });
    }

    @Test
    void halfOfWhatNobodyWantsIsLentAhead() {
        forAll((wants, permits, now, fair) -> {
            int left = permits - sum(wants);
            if (left >= 0) {
                int ahead = left / (2 * wants.size());
                wants.forEach((member, wanted) -> assertThat(fair).containsEntry(member, wanted + ahead));
                assertThat(permits - sum(fair)).as("for who needs it first").isGreaterThanOrEqualTo(left / 2);
            }
        });
    }

    @Test
    @Tag("slow")
    void whatCannotBeDividedGoesToAllEquallyOften() {
        forAll((wants, permits, now, fair) -> {
            Map<String, Integer> sums = new HashMap<>();
            long hungry = wants.entrySet().stream()
                    .filter(each -> fair.get(each.getKey()) < each.getValue())
                    .count();
            int cycle = wants.size() <= 8 ? 840 : 0; // a multiple of each number of members
            for (int turn = 0; turn < cycle; turn++) {
                fair(wants, permits, now + turn * Shares.TURN)
                        .forEach((member, share) -> sums.merge(member, share, Integer::sum));
            }
            if (cycle > 0 && hungry > 0) {
                int most =
                        sums.values().stream().mapToInt(Integer::intValue).max().orElse(0);
                wants.forEach((member, wanted) -> {
                    if (sums.get(member) < cycle * wanted) {
                        assertThat(sums).containsEntry(member, most);
                    }
                });
            }
        });
    }

    @Test
    void withinAsManyTurnsAsThereAreMembersEachHasItsTurn() {
        Map<String, Integer> wants = Map.of("a", 9, "b", 9, "c", 9, "d", 9, "e", 9);
        for (long start = 0; start < 100; start++) {
            Map<String, Integer> sums = new HashMap<>();
            for (int turn = 0; turn < 5; turn++) {
                fair(wants, 2, 1_700_000_000_123L + (start + turn) * Shares.TURN)
                        .forEach((member, share) -> sums.merge(member, share, Integer::sum));
            }
            assertThat(sums.values()).containsOnly(2);
        }
    }

    @Test
    void aTurnLastsItsTime() {
        Map<String, Integer> wants = Map.of("a", 9, "b", 9);
        long start = 7 * Shares.TURN;
        Map<String, Integer> first = fair(wants, 1, start);

        assertThat(fair(wants, 1, start + Shares.TURN - 1)).isEqualTo(first);
        assertThat(fair(wants, 1, start + Shares.TURN)).isNotEqualTo(first);
        int has = Shares.fair(wants, "a", 1, 70_000, 1_000);
        assertThat(Shares.fair(wants, "a", 1, 70_000 + 4_999, 1_000))
                .as("five beats")
                .isEqualTo(has);
        assertThat(Shares.fair(wants, "a", 1, 70_000 + 5_000, 1_000)).isEqualTo(1 - has);
    }

    @Test
    void oneMemberAloneMayHaveAll() {
        assertThat(Shares.fair(Map.of("a", 25), "a", 20, 0, 100)).isEqualTo(20);
        assertThat(Shares.fair(Map.of("a", 6), "a", 20, 0, 100)).isEqualTo(13);
        assertThat(Shares.fair(Map.of("a", 0), "a", 1, 0, 100)).isZero();
    }

    private static void forAll(Check check) {
        for (int seed = 0; seed < SEEDS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int members = 1 + random.nextInt(12);
            int permits = 1 + random.nextInt(random.nextBoolean() ? 5 : 50);
            int most = 1 + random.nextInt(3 * permits / members + 2);
            Map<String, Integer> wants = new TreeMap<>();
            for (int i = 0; i < members; i++) {
                wants.put("shop-" + random.nextInt(100) + "-" + i, random.nextInt(most + 1));
            }
            long now = random.nextLong(2_000_000_000_000L);
            check.check(wants, permits, now, fair(wants, permits, now));
        }
    }

    private static Map<String, Integer> fair(Map<String, Integer> wants, int permits, long now) {
        Map<String, Integer> fair = new TreeMap<>();
        wants.keySet().forEach(member -> fair.put(member, Shares.fair(wants, member, permits, now, 100)));
        return fair;
    }

    private static int sum(Map<String, Integer> numbers) {
        return numbers.values().stream().mapToInt(Integer::intValue).sum();
    }
}
