package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keys with weights: who goes next, how many of whom, and how many of whom may wait. */
@Timeout(300)
class KeyWeightsTests extends WeighedCalls {

    @Test
    void aHeavyKeyHasSeveralCallsATurn() {
        assertThat(order(limit(API), "acme acme acme gold gold gold gold gold gold gold"))
                .containsExactly("acme", "gold", "gold", "gold", "acme", "gold", "gold", "gold", "acme", "gold");
    }

    @Test
    void aLightKeyHasOneCallInSeveralTurns() {
        assertThat(order(limit(API), "batch batch acme acme acme acme acme acme acme acme"))
                .containsExactly("acme", "acme", "acme", "batch", "acme", "acme", "acme", "acme", "batch", "acme");
    }

    @Test
    void aLightKeyGoesAtOnceIfNobodyElseWaits() {
        assertThat(order(limit(API), "batch batch batch")).containsExactly("batch", "batch", "batch");
    }

    @Test
    void callsWithoutAKeyWeighOne() {
        assertThat(order(limit(API), "gold gold gold gold null null batch batch"))
                .containsExactly("gold", "gold", "gold", "null", "gold", "null", "batch", "batch");
    }

    /** Its credit is not for later: or a key could save it, and then have many calls at once. */
    @Test
    void anEmptyLineLosesItsCredit() {
        TaskLimit limit = limit(API);
        Call first = Call.asked(limit);
        Call acme = asked(limit, "acme");
        Call gold = asked(limit, "gold");
        first.giveBack();
        acme.giveBack();
        assertThat(gold.holds()).as("one of the three calls of its turn").isTrue();

        List<Call> waiting = new ArrayList<>();
        for (String key : "acme gold gold gold gold acme".split(" ")) {
            waiting.add(asked(limit, key));
        }
        gold.giveBack();
        for (int i = 0; i < 6; i++) {
            waiting.stream().filter(Call::holdsPermit).findFirst().orElseThrow().giveBack();
        }
        assertThat(order).containsExactly("acme", "gold", "acme", "gold", "gold", "gold", "acme", "gold");
    }

    /** All keys wait all the time. */
    private Map<String, Integer> shares(TaskLimit limit, TaskLimit last, int ends, String... keys) {
        Map<String, Integer> waiting = new HashMap<>();
        List<Call> calls = new ArrayList<>();
        Map<String, Integer> begun = new HashMap<>();
        for (int i = 0; i < ends; i++) {
            for (String key : keys) {
                while (waiting.getOrDefault(key, 0) < 8) {
                    Call call = new Call(limit, key, null) {
                        @Override
                        protected void granted() {
                            waiting.merge(key, -1, Integer::sum);
                            begun.merge(key, 1, Integer::sum);
                            super.granted();
                        }
                    };
                    waiting.merge(key, 1, Integer::sum);
                    assertThat(call.ask()).isNull();
                    calls.add(call);
                }
            }
            Call ending = calls.stream().filter(Call::holds).findFirst().orElseThrow();
            calls.remove(ending);
            ending.giveBack();
        }
        assertThat(last.available()).isZero();
        return begun;
    }

    @Test
    void theSharesAreThoseOfTheWeights() {
        TaskLimit limit =
                limit(LimitSettings.of("api", 5).withKeyWeights(Map.of("gold", 3.0, "batch", 0.1, "odd", 0.7)));

        Map<String, Integer> begun = shares(limit, limit, 48_000, "gold", "batch", "odd", "acme");

        assertThat(begun.get("gold") / 48_000.0).isCloseTo(3 / 4.8, within(0.01 * 3 / 4.8));
        assertThat(begun.get("acme") / 48_000.0).isCloseTo(1 / 4.8, within(0.01 / 4.8));
        assertThat(begun.get("odd") / 48_000.0).isCloseTo(0.7 / 4.8, within(0.007 / 4.8));
        assertThat(begun.get("batch") / 48_000.0).isCloseTo(0.1 / 4.8, within(0.001 / 4.8));
    }

    @Test
    void theLightestKeyStillMoves() {
        TaskLimit limit = limit(LimitSettings.of("api", 1).withKeyWeights(Map.of("gold", 10.0, "batch", 0.1)));

        assertThat(shares(limit, limit, 3_050, "gold", "batch")).containsEntry("batch", 30);
    }

    @Test
    void aKeyHasNoMorePermitsThanAnyOther() {
        TaskLimit limit = limit(
                LimitSettings.of("api", 5).withPermitsPerKey(2).withKeyWeights(Map.of("gold", 10.0, "batch", 0.1)));

        Map<String, Integer> begun = shares(limit, limit, 10_000, "gold", "batch", "acme");

        assertThat(limit.key("gold").running()).isEqualTo(2);
        assertThat(begun.get("gold")).isLessThan(4_000);
        assertThat(begun.get("batch")).isGreaterThan(1_000);
    }

    /** Between levels the one goes that has waited longest, whatever its weight. */
    @Test
    void aWeightCountsWithinItsOwnLimit() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 4),
                API.withPermits(4).withWithin("db"),
                LimitSettings.of("page", 1).withWithin("db"));

        Map<String, Integer> begun = shares(limits.get("api"), limits.get("db"), 17_000, "gold", "batch", "acme");

        assertThat(begun.get("gold") / 17_000.0).isCloseTo(3 / 4.25, within(0.03 / 4.25));
        assertThat(begun.get("batch") / 17_000.0).isCloseTo(0.25 / 4.25, within(0.0025 / 4.25));
    }

    @Test
    void aLeaseChangesNothing() {
        TaskLimit limit = limit(API.withClusterPermits(1));
        TestLease lease = new TestLease(limit);
        lease.lend(1, 1);
        Call first = Call.asked(limit);
        lease.lend(0, 1);
        List<Call> waiting = new ArrayList<>();
        for (String key : "gold gold acme acme gold gold".split(" ")) {
            waiting.add(asked(limit, key));
        }
        first.giveBack();
        assertThat(order).isEmpty();
        for (int i = 0; i < 6; i++) {
            lease.lend(1, 1);
            lease.lend(0, 1);
            Call running =
                    waiting.stream().filter(Call::holdsPermit).findFirst().orElseThrow();
            running.giveBack();
        }
        assertThat(order).containsExactly("gold", "gold", "gold", "acme", "gold", "acme");
    }

    @Test
    void whoHoldsAnOuterPermitGoesFirstAndCostsNoCredit() {
        TaskLimits limits = limits(LimitSettings.of("db", 4), API.withWithin("db"));
        TaskLimit db = limits.get("db");
        TaskLimit api = limits.get("api");
        Call outer = Call.asked(db);
        Call first = Call.asked(api);
        List<Call> waiting = new ArrayList<>();
        for (String key : "gold gold gold gold acme acme".split(" ")) {
            waiting.add(asked(api, key));
        }
        first.giveBack();
        assertThat(order).containsExactly("gold");
        Call holding = new Call(api, "gold", db);
        assertThat(holding.ask()).isNull();
        waiting.get(0).giveBack();
        assertThat(holding.holds()).isTrue();
        holding.giveBack();
        for (int i = 1; i < 6; i++) {
            waiting.stream().filter(Call::holdsPermit).findFirst().orElseThrow().giveBack();
        }
        outer.giveBack();

        assertThat(order)
                .as("two calls of its turn are left")
                .containsExactly("gold", "acme", "gold", "gold", "acme", "gold");
    }

    @Test
    void theQueueOfAKeyIsAsLongAsItsWeightSays() {
        TaskLimit limit = limit(API.withQueueCapacityPerKey(2));
        Call.asked(limit);

        assertThat(waiting(limit, "gold")).isEqualTo(6);
        assertThat(waiting(limit, "acme")).isEqualTo(2);
        assertThat(waiting(limit, "batch")).as("at least one").isEqualTo(1);

        limit.setQueueCapacityPerKey(0);
        assertThat(waiting(limit, "other")).isZero();
        limit.setQueueCapacityPerKey(LimitSettings.UNBOUNDED);
        assertThat(new Call(limit, "batch", null).ask()).isNull();
    }

    /** 20 permits can do one call a tick; 0.6 heavy ones and 3 light ones come. */
    @Test
    void aFloodOfLightCallsKeepsHeavyOnesOutOfAFullQueueUnlessItsKeyIsBounded() {
        LimitSettings flooded = LimitSettings.of("api", 20).withKeyWeights(Map.of("batch", 0.1));
        double full = servedOfTheHeavy(flooded.withQueueCapacity(100));
        double bounded = servedOfTheHeavy(flooded.withQueueCapacity(100).withQueueCapacityPerKey(30));
        double unbounded = servedOfTheHeavy(flooded);

        System.out.printf(
                "heavy calls served beside a flood of light ones: %.0f %% with a queue that the flood fills, %.0f %% with a bound"
                        + " for each key, %.0f %% without a bound%n",
                100 * full, 100 * bounded, 100 * unbounded);
        assertThat(full).isBetween(0.2, 0.35);
        assertThat(bounded).isGreaterThan(0.99);
        assertThat(unbounded).isGreaterThan(0.99);
    }

    private double servedOfTheHeavy(LimitSettings settings) {
        TaskLimit limit = limit(settings);
        Random random = new Random(7);
        List<String> keys = Arrays.asList("acme", "bolt", "batch", "batch", "batch", "batch", "batch");
        Deque<Call> running = new ArrayDeque<>();
        Map<String, Integer> asked = new HashMap<>();
        Map<String, Integer> served = new HashMap<>();
        for (int tick = 0; tick < 5_000; tick++) {
            if (running.size() == 20) {
                running.remove().giveBack();
            }
            Collections.shuffle(keys, random);
            for (String key : keys) {
                if (random.nextDouble() < (key.equals("batch") ? 0.6 : 0.3)) {
                    asked.merge(key, 1, Integer::sum);
                    new Call(limit, key, null) {
                        @Override
                        protected void granted() {
                            running.add(this);
                            served.merge(key, 1, Integer::sum);
                        }
                    }.ask();
                }
            }
        }
        return (served.get("acme") + served.get("bolt")) / (double) (asked.get("acme") + asked.get("bolt"));
    }

    private static int waiting(TaskLimit limit, String key) {
        for (int waiting = 0; waiting < 100; waiting++) {
            if (new Call(limit, key, null).ask() == Reason.KEY_QUEUE_FULL) {
                return waiting;
            }
        }
        throw new AssertionError("no bound");
    }
}
