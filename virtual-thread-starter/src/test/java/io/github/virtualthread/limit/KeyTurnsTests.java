package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.test.util.ReflectionTestUtils;

@Timeout(300)
@Tag("jdk")
class KeyTurnsTests extends TimedLimits {

    private final List<String> order = new ArrayList<>();

    private SemaphoreLimit limit(int permits, UnaryOperator<LimitSettings> settings) {
        return semaphore(settings.apply(LimitSettings.of("partner", permits)));
    }

    private SemaphoreLimit limit(int permits) {
        return limit(permits, settings -> settings);
    }

    /** A call that notes when it is granted, as {@code acme1}; the key is the text before the number, "plain" for none. */
    private Call asked(TaskLimit limit, String name) {
        String key = name.replaceAll("\\d", "");
        Call call = new Call(limit, key.equals("plain") ? null : key, null) {
            @Override
            protected void granted() {
                order.add(name);
                super.granted();
            }
        };
        assertThat(call.ask()).isNull();
        return call;
    }

    private List<Call> askedAll(TaskLimit limit, String names) {
        List<Call> calls = new ArrayList<>();
        for (String name : names.split(" ")) {
            calls.add(asked(limit, name));
        }
        return calls;
    }

    /** Ends calls in the order in which they begin, until none runs. */
    private static void runAll(List<Call> calls) {
        List<Call> left = new ArrayList<>(calls);
        while (!left.isEmpty()) {
            Call running = left.stream().filter(Call::holds).findFirst().orElseThrow();
            left.remove(running);
            running.giveBack();
        }
    }

    @Test
    void aMessageShowsTheBeginningOfAKeyAndNoControlCharacter() {
        String emoji = "\ud83d\ude00"; // two chars
        assertThat(shown("Ülkü " + emoji)).isEqualTo("Ülkü " + emoji);
        assertThat(shown("acme\r\nWARN \u001b[2K\t\u0000\u007f\u0085\u009b\u2028\u2029\u202e"))
                .isEqualTo("acme??WARN ?[2K????????");
        assertThat(shown("x".repeat(100))).isEqualTo("x".repeat(100));
        assertThat(shown("x".repeat(1_000_000))).isEqualTo("x".repeat(100) + "...");
        assertThat(shown("x".repeat(99) + emoji)).isEqualTo("x".repeat(99) + "?...");
    }

    private String shown(String key) {
        LimitExceededException rejection = new LimitExceededException("Prices.find", limit(1), Reason.QUEUE_FULL, key);
        assertThat(rejection.key()).isEqualTo(key);
        return rejection.getMessage().replaceFirst("(?s).*, key '(.*)' has 0 running.*", "$1");
    }

    @Test
    void keysTakeTurnsAndEachKeepsItsOrder() {
        SemaphoreLimit limit = limit(1);
        Call first = asked(limit, "first");

        List<Call> calls = askedAll(limit, "a1 a2 a3 b1 plain1 plain2 c1 b2");
        first.giveBack();
        runAll(calls);

        assertThat(order).containsExactly("first", "a1", "b1", "plain1", "c1", "a2", "b2", "plain2", "a3");
        assertThat(limit.keys()).isZero();
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void callsWithoutAKeyKeepTheirOrderWhenTheFirstKeyComes() {
        SemaphoreLimit limit = limit(1);

        List<Call> calls = askedAll(limit, "plain1 plain2 plain3 a1 a2 plain4");
        runAll(calls);

        assertThat(order).containsExactly("plain1", "plain2", "a1", "plain3", "a2", "plain4");
    }

    @Test
    void aKeyThatHasHadItsTurnGoesBehindAllOthers() {
        SemaphoreLimit limit = limit(2);
        List<Call> running = askedAll(limit, "a1 b1");
        List<Call> waiting = askedAll(limit, "a2 a3 b2 b3 c1");

        running.get(0).giveBack();
        assertThat(order).endsWith("a2");
        running.get(1).giveBack();
        assertThat(order).endsWith("b2");
        waiting.get(0).giveBack();
        assertThat(order).endsWith("c1");
    }

    @Test
    void noKeyRunsMoreCallsThanItsPermits() {
        SemaphoreLimit limit = limit(3, settings -> settings.withPermitsPerKey(1));

        List<Call> calls = askedAll(limit, "a1 a2 b1 plain1");

        assertThat(order).containsExactly("a1", "b1", "plain1");
        assertThat(limit.waiting()).isEqualTo(1);
        assertThat(limit.key("a")).isEqualTo(new KeyUse("a", 1, 1));
        calls.get(2).giveBack();
        assertThat(order).hasSize(3);
        assertThat(limit.available()).isEqualTo(1);
        calls.get(0).giveBack();
        assertThat(order).endsWith("a2");
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void aKeyAtItsPermitsHoldsUpNobody() {
        SemaphoreLimit limit = limit(2, settings -> settings.withPermitsPerKey(1));
        List<Call> calls = askedAll(limit, "a1 a2 a3");

        assertThat(limit.saturated()).isZero();
        askedAll(limit, "plain1 plain2 b1");

        assertThat(order).containsExactly("a1", "plain1");
        assertThat(limit.saturated()).isPositive();
        calls.get(0).giveBack();
        assertThat(order).endsWith("plain2"); // it came before a2 could go
    }

    @Test
    void theQueueOfOneKeyIsBounded() {
        SemaphoreLimit limit =
                limit(1, settings -> settings.withQueueCapacity(3).withQueueCapacityPerKey(1));
        askedAll(limit, "a1 a2 b1");

        Call third = new Call(limit, "a", null);

        assertThat(third.ask()).isEqualTo(Reason.KEY_QUEUE_FULL);
        assertThat(Call.asked(limit, "c").holds()).isFalse();
        assertThat(new Call(limit, "d", null).ask()).isEqualTo(Reason.QUEUE_FULL);
        assertThat(limit.keys()).isEqualTo(3);
        assertThat(new LimitExceededException("Shop.price", limit, Reason.KEY_QUEUE_FULL, "a"))
                .hasMessage("Shop.price was rejected (KEY_QUEUE_FULL): limit partner (1 permit, queue of 3, 1 per key,"
                        + " unbounded wait) has 0 permits free and 3 calls waiting, key 'a' has 1 running and 1 waiting;"
                        + " raise its permits if the resource can take more,"
                        + " raise its queue-capacity-per-key for bursts, or send fewer calls with this key")
                .extracting(LimitExceededException::key)
                .isEqualTo("a");
    }

    /** More permits or a longer queue would let no call of the key run. */
    @Test
    void theRemedyForAFullKeyIsPermitsPerKey() {
        SemaphoreLimit limit = limit(
                4,
                settings -> settings.withPermitsPerKey(1).withQueueCapacity(2).withQueueCapacityPerKey(2));
        askedAll(limit, "a1 a2 a3");

        assertThat(remedy(limit, Reason.QUEUE_FULL, "a"))
                .isEqualTo("raise its permits-per-key, or send fewer calls with this key");
        assertThat(remedy(limit, Reason.KEY_QUEUE_FULL, "a"))
                .isEqualTo(
                        "raise its permits-per-key, raise its queue-capacity-per-key for bursts, or send fewer calls with this key");
        assertThat(remedy(limit, Reason.WAIT_TIMEOUT, "a"))
                .isEqualTo("raise its permits-per-key, raise its max-wait, or send fewer calls");
        assertThat(remedy(limit, Reason.DEADLINE, "a"))
                .endsWith("more time, raise its permits-per-key, or send fewer calls");
        assertThat(remedy(limit, Reason.QUEUE_FULL, "b"))
                .isEqualTo("raise its permits if the resource can take more,"
                        + " raise its queue-capacity for bursts, or send fewer calls");
    }

    private static String remedy(SemaphoreLimit limit, Reason reason, String key) {
        String message = new LimitExceededException("Shop.price", limit, reason, key).getMessage();
        return message.substring(message.indexOf("; ") + 2);
    }

    @Test
    void whoLeavesTheQueueIsForgotten() {
        SemaphoreLimit limit = limit(1);
        Call running = asked(limit, "a1");
        List<Call> calls = askedAll(limit, "a2 b1 c1 c2 d1");

        assertThat(calls.get(1).leaveQueue()).isTrue();
        assertThat(calls.get(2).leaveQueue()).isTrue();
        assertThat(limit.keys()).isEqualTo(3);
        assertThat(limit.waiting()).isEqualTo(3);
        running.giveBack();
        runAll(List.of(calls.get(0), calls.get(3), calls.get(4)));

        assertThat(order).containsExactly("a1", "a2", "c2", "d1");
        assertThat(limit.keys()).isZero();
    }

    @Test
    void evictionAndTheLongestWaitEndCallsWithKeys() throws Exception {
        SemaphoreLimit limit = limit(1, settings -> settings.withMaxWait(Duration.ofMillis(20)));
        Call running = asked(limit, "a1");

        List<Call> expired = askedAll(limit, "a2 b1 plain1");
        for (Call each : expired) {
            assertThat(each.rejected.get(2, TimeUnit.MINUTES)).isEqualTo(Reason.WAIT_TIMEOUT);
        }
        limit.setMaxWait(null);
        List<Call> evicted = askedAll(limit, "a3 b2 plain2");

        assertThat(limit.admission.evict(Reason.EVICTED)).isEqualTo(3);
        assertThat(evicted).allSatisfy(each -> assertThat(each.rejected)
                .succeedsWithin(Duration.ofMinutes(2))
                .isEqualTo(Reason.EVICTED));
        assertThat(limit.waiting()).isZero();
        running.giveBack();
        assertThat(limit.keys()).isZero();
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void theOldestExpiresFirstWhateverItsKey() {
        WaitQueue queue = new WaitQueue(() -> 1);
        List<Call> calls = new ArrayList<>();
        for (String key : new @Nullable String[] {"a", null, "b", "a", null}) {
            Call call = new Call(null, key, null);
            call.joinedAt = calls.size();
            calls.add(call);
            queue.arrive(call.place(), null);
            queue.add(call);
        }

        assertThat(queue.first(4)).isEqualTo(calls.subList(0, 4));
        for (Call each : calls) {
            assertThat(queue.pollWaitingAtLeast(0, 10)).isSameAs(each);
        }
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void morePermitsForEachKeyStartWhoWaitsAndFewerTakeEffectLater() {
        SemaphoreLimit limit = limit(4, settings -> settings.withPermitsPerKey(1));
        List<Call> calls = askedAll(limit, "a1 a2 a3 b1 b2");
        assertThat(order).containsExactly("a1", "b1");

        limit.setPermitsPerKey(2);
        assertThat(order).containsExactlyInAnyOrder("a1", "b1", "a2", "b2");
        limit.setPermitsPerKey(1);
        calls.get(0).giveBack();
        assertThat(order).hasSize(4);
        calls.get(1).giveBack();
        assertThat(order).endsWith("a3");
    }

    @Test
    void aCallThatCannotStartGivesThePermitOfItsKeyBack() throws Exception {
        SemaphoreLimit limit = limit(2, settings -> settings.withPermitsPerKey(1));
        Call broken = new Call(limit, "a", null) {
            @Override
            protected void granted() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        assertThat(broken.ask()).isNull();

        assertThat(broken.failed.get(2, TimeUnit.MINUTES)).isInstanceOf(OutOfMemoryError.class);
        assertThat(limit.keys()).isZero();
        assertThat(limit.available()).isEqualTo(2);
        assertThat(asked(limit, "a2").holds()).isTrue();
    }

    @Test
    void theBusiestKeysComeFirst() {
        SemaphoreLimit limit = limit(2, settings -> settings.withPermitsPerKey(1));
        askedAll(limit, "a1 b1 b2 c1 c2 c3 d1");

        assertThat(limit.busiestKeys(2)).containsExactly(new KeyUse("c", 0, 3), new KeyUse("b", 1, 1));
        assertThat(limit.keys()).isEqualTo(4);
        assertThat(limit.keysFull()).isEqualTo(1);
        assertThat(limit.mostWaitingOfOneKey()).isEqualTo(3);
        assertThat(limit.key("nobody")).isEqualTo(new KeyUse("nobody", 0, 0));
    }

    @Test
    void theFiguresOfKeysKnowThoseWhoHoldAPermitAroundTheLimit() {
        TaskLimits limits = limits(
                LimitSettings.of("db", 3),
                LimitSettings.of("report", 2).withWithin("db").withPermitsPerKey(1));
        TaskLimit db = limits.get("db");
        TaskLimit report = limits.get("report");
        Call.asked(db, 2);
        assertThat(new Call(report, "acme", db).ask()).isNull();
        assertThat(new Call(report, "acme", db).ask()).isNull();

        assertThat(report.key("acme")).isEqualTo(new KeyUse("acme", 1, 1));
        assertThat(report.keysFull()).isEqualTo(1);
        assertThat(report.mostWaitingOfOneKey()).isEqualTo(1);
    }

    @Test
    void nothingIsKeptOfAMillionKeys() {
        SemaphoreLimit limit = limit(1);
        Call running = asked(limit, "running");
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < 1_000_000; i++) {
            Call call = new Call(limit, "key-" + i, null);
            assertThat(call.ask()).isNull();
            calls.add(call);
        }
        assertThat(limit.keys()).isEqualTo(1_000_001);

        running.giveBack();
        calls.forEach(Call::giveBack);

        assertThat(limit.keys()).isZero();
        assertThat(limit.available()).isEqualTo(1);
        Object turns = limit.admission.ofKeys(each -> each, new Object());
        assertThat(ReflectionTestUtils.getField(turns, "lines"))
                .as("table of the map")
                .isNull();
        assertThat(turns).extracting("ring.head").as("ring").isNull();
    }

    /**
     * Between a call of a key that has nothing running, and its turn, at most one call of each other key begins: nobody starves,
     * whatever comes and goes.
     */
    @Test
    void aKeyWaitsForOneCallOfEachOtherKeyAtMost() {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        SemaphoreLimit limit = limit(3);
        Map<Call, Set<String>> begunSince = new LinkedHashMap<>(); // for the first waiting call of each key
        List<Call> running = new ArrayList<>();
        List<Call> waiting = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            if (running.isEmpty() || random.nextInt(10) < 5 && waiting.size() < 60) {
                String key = random.nextInt(3) == 0 ? "flood" : "key-" + random.nextInt(8);
                Call call = new Call(limit, key, null);
                assertThat(call.ask()).isNull();
                (call.holds() ? running : waiting).add(call);
            } else if (random.nextInt(8) == 0 && !waiting.isEmpty()) {
                Call leaving = waiting.remove(random.nextInt(waiting.size()));
                assertThat(leaving.leaveQueue()).isTrue();
                begunSince.remove(leaving);
            } else {
                running.remove(random.nextInt(running.size())).giveBack();
                List<Call> begun = waiting.stream().filter(Call::holds).toList();
                waiting.removeAll(begun);
                running.addAll(begun);
                begun.forEach(begunSince::remove);
                for (Call each : begun) {
                    begunSince.forEach((other, keys) -> assertThat(keys.add(key(each)))
                            .as("%s began twice while %s waited", key(each), key(other))
                            .isTrue());
                }
            }
            Set<String> seen = new HashSet<>();
            for (Call each : waiting) {
                if (seen.add(key(each))
                        && running.stream().noneMatch(other -> key(other).equals(key(each)))) {
                    begunSince.computeIfAbsent(each, first -> new HashSet<>());
                }
            }
        }
        assertThat(limit.waiting()).isEqualTo(waiting.size());
    }

    private static String key(Call call) {
        return String.valueOf(call.place().key());
    }
}
