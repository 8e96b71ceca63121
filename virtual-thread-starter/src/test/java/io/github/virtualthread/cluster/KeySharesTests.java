package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.Place;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.test.util.ReflectionTestUtils;

/** Replicas that share the permits of each key of a limit, by a clock that tests set: nothing happens but what they do. */
@Timeout(300)
class KeySharesTests {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration VALID = Duration.ofSeconds(9);
    private static final Duration IDLE = LEASE.dividedBy(3).plusMillis(1);
    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration STEP = Duration.ofMillis(200);

    private final TaskTimer timer = new TaskTimer("timer");
    private final MemoryEngine engine = new MemoryEngine();
    private long nanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20); // overflows soon

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    private static LimitSettings tenant(int permitsPerKey) {
        return LimitSettings.of("tenant", 40).withClusterPermitsPerKey(permitsPerKey);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        engine.pass(time);
    }

    // never more than the permits

    @Test
    void aKeyRunsNoMoreCallsThanItsPermitsInAllReplicas() {
        List<Replica> replicas =
                List.of(new Replica("a", tenant(3)), new Replica("b", tenant(3)), new Replica("c", tenant(3)));
        SplittableRandom random = new SplittableRandom(19);
        Map<String, Integer> begun = new HashMap<>();
        for (int i = 0; i < 2_000; i++) {
            Replica replica = replicas.get(random.nextInt(3));
            String key = random.nextInt(3) == 0 ? "other" : "acme";
            switch (random.nextInt(4)) {
                case 0 -> replica.asks(key);
                case 1 -> replica.end(key, 1);
                default -> replica.exchangeDue();
            }
            pass(Duration.ofMillis(random.nextInt(60)));
            if (random.nextInt(200) == 0) {
                pass(VALID); // all leases are over
            }
            for (String each : List.of("acme", "other")) {
                int sum = replicas.stream().mapToInt(one -> one.running(each)).sum();
                assertThat(sum).as("step %d, %s", i, each).isLessThanOrEqualTo(3);
                begun.merge(each, sum, Math::max);
            }
        }
        assertThat(begun).containsEntry("acme", 3).containsEntry("other", 3);
    }

    @Test
    void aKeyBeginsNoCallWhenItsLeaseIsOverByTheClockAndOthersGoOn() {
        Replica a = new Replica("a", tenant(3).withPermits(1));
        Request one = a.asks("one");
        Request two = a.asks("two");
        a.exchangeDue();
        Request running = one.isRunning() ? one : two;
        Request waiting = one.isRunning() ? two : one;
        Request plain = a.asks(null);
        assertThat(plain.isRunning() || waiting.isRunning()).isFalse();
        pass(VALID);

        a.end(running.key(), 1);

        assertThat(waiting.isRunning()).as("though it is its turn").isFalse();
        assertThat(plain.isRunning()).as("needs no lease").isTrue();
        a.exchangeAll();
        a.end(null, 1);
        assertThat(waiting.isRunning()).isTrue();
    }

    @Test
    void aKeyWhoseLeaseIsOverTakesItsTurnAfterwards() {
        Replica a = new Replica("a", tenant(1).withPermits(2));
        a.asks("one");
        a.asks("two");
        a.exchangeAll();
        a.asks("one");
        a.asks("two");
        pass(VALID);
        a.end("one", 1);
        a.end("two", 1);
        assertThat(a.running("one") + a.running("two")).isZero();

        a.exchangeAll();
        assertThat(a.running("one")).isEqualTo(1);
        assertThat(a.running("two")).isEqualTo(1);
    }

    @Test
    void theFloodOfOneKeyHoldsUpNoOther() {
        Replica a = new Replica("a", tenant(2));
        for (int i = 0; i < 5_000; i++) {
            a.asks("flood");
        }
        a.exchangeAll();
        Request other = a.asks("acme");
        Request plain = a.asks(null);
        assertThat(plain.isRunning()).isTrue();
        a.exchangeDue();
        assertThat(other.isRunning()).isTrue();
        assertThat(a.running("flood")).isEqualTo(2);
    }

    @Test
    void keysTakeTurns() {
        Replica a = new Replica("a", tenant(1).withPermits(1));
        for (String key : List.of("one", "one", "two", "two", "three", "three")) {
            a.asks(key);
        }
        a.exchangeAll();
        a.exchangeAll();
        List<String> order = new ArrayList<>();
        while (a.requests.stream().anyMatch(Request::isRunning)) {
            Request running =
                    a.requests.stream().filter(Request::isRunning).findFirst().orElseThrow();
            order.add(running.key());
            a.requests.remove(running);
            running.ends();
        }
        assertThat(order.subList(0, 3)).containsExactlyInAnyOrder("one", "two", "three");
        assertThat(order.subList(3, 6)).containsExactlyElementsOf(order.subList(0, 3));
    }

    @Test
    void aShareGrowsAndShrinksUnderCallsThatRun() {
        Replica a = new Replica("a", tenant(4));
        Replica b = new Replica("b", tenant(4));
        for (int i = 0; i < 10; i++) {
            a.asks("acme");
        }
        a.exchangeDue();
        assertThat(a.running("acme")).isEqualTo(4);
        b.asks("acme");
        b.asks("acme");
        b.exchangeDue();
        assertThat(b.running("acme")).isZero();

        pass(Duration.ofMillis(100));
        a.exchangeDue();
        assertThat(engine.lent("tenant:acme")).isEqualTo(4);
        a.end("acme", 4);
        assertThat(a.running("acme")).as("two of four are fair").isEqualTo(2);
        a.exchangeDue();
        pass(Duration.ofMillis(100));
        a.exchangeDue();
        b.exchangeDue();
        assertThat(b.running("acme")).isEqualTo(2);
    }

    // what there is of a key

    @Test
    void nothingIsLeftOfAKeyAfterItsLastCall() {
        Replica a = new Replica("a", tenant(3));
        for (int i = 0; i < 200; i++) {
            a.asks("key" + i);
        }
        a.exchangeAll();
        a.endAll();
        assertThat(a.limit.keys()).isZero();
        for (int i = 0; i < 3; i++) {
            pass(IDLE);
            a.exchangeDue();
        }
        assertThat(a.shares()).isEmpty();
        assertThat(a.leases()).isEmpty();
        for (int i = 0; i < 200; i++) {
            assertThat(engine.members("tenant:key" + i)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(OnFailure.class)
    void nothingIsLeftOfAKeyWhileTheEngineIsAway(OnFailure onFailure) {
        Replica a = new Replica("a", tenant(4).withOnFailure(onFailure), 2);
        a.asks("known");
        a.exchangeAll();
        engine.fail();
        Request other = a.asks("unknown");
        a.exchangeDue();
        pass(LEASE);
        for (int i = 0; i < 12; i++) {
            a.look();
            a.exchangeDue();
            pass(STEP);
        }
        boolean alone = onFailure == OnFailure.LOCAL_SHARE;
        assertThat(other.isRunning()).isEqualTo(alone);
        for (String key : List.of("known", "late")) {
            Request late = new Request(a.limit, key);
            assertThat(late.asks()).isEqualTo(onFailure == OnFailure.REJECT ? Reason.NO_LEASE : null);
            assertThat(late.isRunning()).isEqualTo(alone && key.equals("known"));
            late.cancels();
            if (late.isRunning()) {
                late.ends();
            }
        }
        a.cancelAll();

        for (int i = 0; i < 3; i++) {
            pass(IDLE);
            a.look();
            a.exchangeDue();
        }
        assertThat(a.shares()).isEmpty();
        assertThat(a.leases()).isEmpty();
    }

    @Test
    void thatKeysAreGoneDoesNotShowThatTheEngineIsBack() {
        Replica a = new Replica("a", tenant(3));
        AtomicInteger lost = new AtomicInteger();
        a.all.listen(new ClusterShares.Listener() {
            @Override
            public void exchanged(Duration took, ClusterShares.Outcome outcome) {}

            @Override
            public void lost() {
                lost.incrementAndGet();
            }
        });
        engine.fail();
        for (int i = 0; i < 3; i++) {
            a.asks("key" + i);
            a.exchangeDue();
            a.cancelAll();
            for (int j = 0; j < 3; j++) {
                pass(IDLE);
                a.exchangeDue();
            }
            assertThat(a.shares()).isEmpty();
        }
        assertThat(lost).as("one outage").hasValue(1);

        engine.heal();
        a.asks("acme");
        a.exchangeDue();
        engine.fail();
        pass(LEASE);
        a.look();
        a.exchangeDue();
        a.exchangeDue();
        assertThat(lost).as("another one").hasValue(2);
    }

    @Test
    void aKeyThatComesBackClaimsByGreaterNumbers() {
        Replica a = new Replica("a", tenant(3));
        for (int i = 0; i < 5; i++) {
            a.asks("acme");
            a.exchangeDue();
            assertThat(a.running("acme")).isEqualTo(1);
            a.endAll();
            for (int j = 0; j < 3; j++) {
                pass(IDLE);
                a.exchangeDue();
            }
            assertThat(a.shares()).isEmpty();
        }
        List<Long> numbers = engine.exchanges().stream()
                .flatMap(List::stream)
                .map(Claim::number)
                .toList();
        assertThat(numbers).isSorted().doesNotHaveDuplicates().hasSizeGreaterThan(10);
    }

    @Test
    void aCallThatComesBetweenTheGoodbyeOfItsKeyAndTheAnswerGetsAShareOfItsOwn() {
        Replica a = new Replica("a", tenant(3));
        a.asks("acme");
        a.exchangeDue();
        a.endAll();
        pass(IDLE);
        a.exchangeDue();
        pass(IDLE);
        List<Request> coming = new ArrayList<>();
        engine.before(claims -> {
            assertThat(claims).extracting(Claim::lease).containsExactly(Duration.ZERO);
            coming.add(a.asks("acme"));
        });
        a.exchangeDue();
        engine.heal();

        assertThat(coming).hasSize(1);
        a.exchangeDue();
        assertThat(coming.get(0).isRunning()).isTrue();
        assertThat(engine.lent("tenant:acme")).isEqualTo(1);
        assertThat(a.shares()).hasSize(1);
    }

    @Test
    void aGoodbyeThatFailsHarmsNobody() {
        Replica a = new Replica("a", tenant(3));
        Replica b = new Replica("b", tenant(3));
        a.asks("acme");
        a.exchangeDue();
        a.endAll();
        pass(IDLE);
        a.exchangeDue();
        engine.fail();
        pass(IDLE);
        a.exchangeDue();
        engine.heal();
        assertThat(a.shares()).isEmpty();

        for (int i = 0; i < 3; i++) {
            b.asks("acme");
        }
        b.exchangeDue();
        assertThat(b.running("acme")).isEqualTo(3);
        a.asks("acme");
        a.exchangeDue();
        assertThat(a.shares()).hasSize(1);
    }

    // who tells when

    @Test
    void aKeyThatNobodyElseHasTellsThreeTimesPerLease() {
        Replica a = new Replica("a", tenant(3));
        Replica b = new Replica("b", tenant(3));
        a.asks("acme");
        a.exchangeDue();
        assertThat(a.share("acme").untilClaim()).isEqualTo(LEASE.toNanos() / 3);
        b.asks("acme");
        b.exchangeDue();
        assertThat(b.running("acme")).as("there is one left").isEqualTo(1);
        assertThat(b.share("acme").untilClaim()).as("two have it").isEqualTo(BEAT);
        pass(LEASE.dividedBy(3));
        a.exchangeDue();
        assertThat(a.share("acme").untilClaim()).isEqualTo(BEAT);
    }

    @Test
    void aReplicaThatHasAllPermitsOfAKeyGivesUpSoonWhatItDoesNotNeed() {
        Replica a = new Replica("a", tenant(1));
        Replica b = new Replica("b", tenant(1));
        a.asks("acme");
        a.exchangeDue();
        assertThat(a.share("acme").untilClaim()).isEqualTo(LEASE.toNanos() / 3);
        assertThat(a.share("acme").untilLook()).isEqualTo(STEP.toNanos());
        a.endAll();
        pass(STEP);
        assertThat(a.share("acme").untilClaim()).isNotPositive();
        a.exchangeDue();
        assertThat(engine.lent("tenant:acme")).isZero();

        b.asks("acme");
        b.exchangeDue();
        assertThat(b.running("acme")).isEqualTo(1);
    }

    // odd keys and numbers

    @Test
    void keysOfAnyLengthAndCharactersAreClaimedApart() {
        Replica a = new Replica("a", tenant(3));
        String x = "x".repeat(10_000);
        List<String> keys = List.of(
                x + "1",
                x + "2",
                "",
                " ",
                "a b",
                "acme ",
                "acme",
                "ACME",
                "\u0000",
                "\ud800",
                "\ud801",
                "\ufffd",
                "?",
                "tenant:acme",
                "'; drop table",
                "m\u00fcller",
                "mu\u0308ller",
                "*",
                "{}",
                "x".repeat(200),
                "x".repeat(201));
        keys.forEach(a::asks);
        a.exchangeDue();
        List<String> names =
                engine.exchanges().get(0).stream().map(Claim::limit).toList();
        assertThat(names)
                .doesNotHaveDuplicates()
                .hasSameSizeAs(keys)
                .allMatch(name -> name.matches("tenant(:[!-~]{1,200}|#[0-9a-f]{64})"));
        keys.forEach(key -> assertThat(a.running(key)).as(key).isEqualTo(1));

        String hash = names.stream()
                .filter(name -> name.contains("#"))
                .findFirst()
                .orElseThrow()
                .substring(7);
        a.asks(hash);
        a.asks("#" + hash);
        a.exchangeDue();
        Set<String> all = new HashSet<>();
        engine.exchanges().forEach(claims -> claims.forEach(claim -> all.add(claim.limit())));
        assertThat(all).hasSize(keys.size() + 2);
    }

    @Test
    void aKeyWhoseCallsCannotWaitHasItsPermitsForTheNext() {
        Replica a = new Replica("a", tenant(1).withQueueCapacityPerKey(0));
        Request refused = new Request(a.limit, "acme");
        assertThat(refused.asks()).isEqualTo(Reason.KEY_QUEUE_FULL);
        a.exchangeDue();
        pass(STEP);
        a.exchangeDue();
        assertThat(a.asks("acme").isRunning()).isTrue();
    }

    @Test
    void aLimitAndItsKeysMayBothBeShared() {
        Replica a = new Replica("a", tenant(2).withPermits(3).withClusterPermits(3));
        Replica b = new Replica("b", tenant(2).withPermits(3).withClusterPermits(3));
        for (String key : List.of("one", "one", "one", "two", "two")) {
            a.asks(key);
            b.asks(key);
        }
        Set<Integer> sums = new HashSet<>();
        int begun = 0;
        for (int i = 0; i < 100 && begun < 10; i++) {
            for (Replica each : List.of(a, b)) {
                each.exchangeDue();
                for (String key : List.of("one", "two")) {
                    assertThat(a.running(key) + b.running(key)).isLessThanOrEqualTo(2);
                }
                sums.add(a.running() + b.running());
                begun += each.end("one", 1) + each.end("two", 1);
            }
            pass(Duration.ofMillis(100));
        }
        assertThat(begun).as("all of them").isEqualTo(10);
        assertThat(sums).allMatch(sum -> sum <= 3);
    }

    @Test
    void anIdleLimitIsAskedAsSoonAsItsKeyHasPermits() {
        Replica a = new Replica("a", tenant(2).withPermits(3).withClusterPermits(3));
        for (int i = 0; i < 4; i++) {
            a.exchangeDue();
            pass(IDLE);
        }
        Request call = a.asks("acme");
        for (int i = 0; i < 3; i++) {
            a.exchangeDue(); // no time passes
        }
        assertThat(call.isRunning()).isTrue();
    }

    @Test
    void keysOfALimitWithinAnotherNeedPermitsOfBoth() {
        TaskLimits limits = new TaskLimits(
                List.of(LimitSettings.of("db", 1), tenant(2).withWithin("db").withPermits(1)), timer, change -> {});
        Replica a = new Replica("a", limits.get("tenant"), null);
        Request one = a.asks("one");
        Request two = a.asks("two");
        a.exchangeDue();
        assertThat(a.running()).isEqualTo(1);
        a.end(one.isRunning() ? "one" : "two", 1);
        assertThat(one.isRunning() || two.isRunning()).isTrue();
    }

    @Test
    void callsThatWaitForAnOccupationAskWhenItEnds() {
        Replica a = new Replica("a", tenant(2));
        TaskLimit.Occupation occupation = a.limit.occupy();
        Request call = a.asks("acme");
        a.exchangeDue();
        int asked = a.asked();

        occupation.close();
        assertThat(a.asked()).isGreaterThan(asked);
        a.exchangeDue();
        assertThat(call.isRunning()).isTrue();
    }

    @Test
    void aLeaseThatCannotBeHadLeavesNothingBehind() {
        TaskLimit limit = new TaskLimits(List.of(tenant(2)), timer, change -> {}).get("tenant");
        ClusterShare.lendKeys(limit, key -> {
            throw new OutOfMemoryError("in a test");
        });
        for (int i = 0; i < 3; i++) {
            assertThat(catchThrowable(() -> new Request(limit, "acme").asks())).isInstanceOf(OutOfMemoryError.class);
        }
        assertThat(limit.keys()).isZero();
        Request plain = new Request(limit, null);
        assertThat(plain.asks()).isNull();
        assertThat(plain.isRunning()).isTrue();
    }

    @Test
    void twoThousandKeysAtOnceAreToldInExchangesOfAHundred() {
        Replica a = new Replica("a", tenant(3));
        for (int i = 0; i < 2_000; i++) {
            a.asks("key" + i);
        }
        a.exchangeDue();
        assertThat(engine.exchanges()).hasSize(20).allMatch(claims -> claims.size() == 100);
        assertThat(a.running()).isEqualTo(40);
        assertThat(a.endAll()).as("none starves").isEqualTo(2_000);
        assertThat(engine.exchanges()).as("without asking for more").hasSize(20);
    }

    /** Exchanges only when a test says so: it counts as if a thread exchanged all the time. */
    private final class Replica {

        final TaskLimit limit;
        final ClusterShares all;
        final List<Request> requests = new ArrayList<>();
        private final AtomicInteger asked;

        Replica(String name, LimitSettings settings) {
            this(name, settings, null);
        }

        Replica(String name, LimitSettings settings, @Nullable Integer replicas) {
            this(name, new TaskLimits(List.of(settings), timer, change -> {}).get(settings.name()), replicas);
        }

        Replica(String name, TaskLimit limit, @Nullable Integer replicas) {
            this.limit = limit;
            all = new ClusterShares(
                    () -> engine,
                    new ClusterSettings(name, LEASE, Duration.ofNanos(BEAT), OnFailure.LOCAL_SHARE, replicas),
                    timer,
                    () -> nanos);
            asked = field(all, "asked");
            asked.set(1);
            all.add(limit);
        }

        int asked() {
            return asked.get();
        }

        /** What is due is told. */
        void exchangeDue() {
            ReflectionTestUtils.invokeMethod(all, "exchangeOnce");
        }

        void look() {
            shares().forEach(ClusterShare::look);
        }

        void exchangeAll() {
            look();
            exchangeDue();
            exchangeDue();
        }

        Set<ClusterShare> shares() {
            return field(all, "shares");
        }

        ClusterShare share(String key) {
            return leases().get(key) instanceof ClusterShare share ? share : null;
        }

        Map<String, ?> leases() {
            Object admission = field(limit, "admission");
            return field(field(field(field(admission, "level"), "queue"), "turns"), "leases");
        }

        Request asks(@Nullable String key) {
            Request request = new Request(limit, key);
            assertThat(request.asks()).isNull();
            requests.add(request);
            return request;
        }

        int running() {
            return (int) requests.stream().filter(Request::isRunning).count();
        }

        int running(String key) {
            return (int) running(requests, key).count();
        }

        private static Stream<Request> running(List<Request> requests, @Nullable String key) {
            return requests.stream().filter(each -> each.isRunning() && Objects.equals(each.key(), key));
        }

        /** Ends so many calls that run now, the oldest first; returns how many there were. */
        int end(@Nullable String key, int calls) {
            List<Request> ending = running(requests, key).limit(calls).toList();
            requests.removeAll(ending);
            ending.forEach(Request::ends);
            return ending.size();
        }

        private List<Request> nowRunning() {
            return requests.stream().filter(Request::isRunning).toList();
        }

        /** Until none runs. */
        int endAll() {
            int ended = 0;
            for (List<Request> some = nowRunning(); !some.isEmpty(); some = nowRunning()) {
                requests.removeAll(new HashSet<>(some));
                some.forEach(Request::ends);
                ended += some.size();
            }
            return ended;
        }

        void cancelAll() {
            requests.forEach(Request::cancels);
            endAll();
            requests.clear();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T field(Object of, String name) {
        return (T) Objects.requireNonNull(ReflectionTestUtils.getField(of, name));
    }

    private static final class Request extends PermitRequest {

        private final TaskLimit limit;
        private final @Nullable Place place;

        Request(TaskLimit limit, @Nullable String key) {
            this.limit = limit;
            this.place = key == null ? null : new Place(key, null);
        }

        @Nullable
        String key() {
            return place == null ? null : place.key();
        }

        @Nullable
        Reason asks() {
            return ask();
        }

        boolean isRunning() {
            return isHolding();
        }

        void ends() {
            giveBack();
        }

        void cancels() {
            leave();
        }

        @Override
        protected TaskLimit limit() {
            return limit;
        }

        @Override
        protected @Nullable Place place() {
            return place;
        }

        @Override
        protected void granted() {}

        @Override
        protected void grantFailed(Throwable failure) {}

        @Override
        protected void tellGrantFailed() {}

        @Override
        protected void rejected(Reason reason) {}
    }
}
