package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.limit.Jam;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The gauges of limits. */
@Timeout(300)
class LimitMetersTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final MeteredEngine test = MeteredEngine.started(
            registry, LimitSettings.of("db", 2).withQueueCapacity(10), LimitSettings.of("mail", 5));

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void theyAreThereBeforeTheFirstCall() {
        assertThat(value("permits", "db")).isEqualTo(2);
        assertThat(value("available", "db")).isEqualTo(2);
        assertThat(value("waiting", "db")).isZero();
        assertThat(value("queue.capacity", "db")).isEqualTo(10);
        assertThat(value("queue.capacity", "mail")).isEqualTo(Integer.MAX_VALUE);
        assertThat(value("saturated", "db")).isZero();
        assertThat(value("abandoned", "db")).isZero();
        assertThat(value("oldest.running", "db")).isZero();
        assertThat(value("oldest.waiting", "db")).isZero();
    }

    @Test
    void theyFollowTheLimit() throws Exception {
        test.hold("db");
        test.hold("db");
        test.submit("db", () -> null);

        assertThat(value("available", "db")).isZero();
        assertThat(value("waiting", "db")).isEqualTo(1);

        test.limits.get("db").resize(7);
        assertThat(value("permits", "db")).isEqualTo(7);
    }

    @Test
    void thePeakStaysForAMinute() throws Exception {
        test.hold("db");
        test.hold("db");
        test.submit("db", () -> null);
        test.gate.countDown();
        test.awaitIdle();

        assertThat(value("waiting.max", "db")).isEqualTo(1);
        assertThat(value("waiting.max", "mail")).isZero();
    }

    @Test
    void theOldestAreTimedInSeconds() throws Exception {
        long begin = System.nanoTime();
        test.hold("db");
        test.hold("db");
        test.submit("db", () -> null);

        assertThat(gauge("oldest.running", "db").getId().getBaseUnit()).isEqualTo("seconds");
        assertThat(value("oldest.running", "db")).isPositive().isLessThanOrEqualTo(since(begin));
        assertThat(value("oldest.waiting", "db")).isPositive().isLessThanOrEqualTo(since(begin));
        assertThat(value("oldest.running", "mail")).isZero();
        assertThat(gauge("saturated", "db").getId().getBaseUnit()).isEqualTo("seconds");
        assertThat(value("saturated", "db")).isPositive().isLessThanOrEqualTo(since(begin));
        assertThat(value("saturated", "mail")).isZero();
    }

    @Test
    void aFullLimitIsTimedWhetherItsCallsWaitOrAreRejected() throws Exception {
        long begin = System.nanoTime();
        test.limits.get("mail").setQueueCapacity(0);
        assertThat(value("saturated", "mail")).isZero();
        for (int i = 0; i < 5; i++) {
            test.hold("mail");
        }
        assertThat(value("saturated", "mail")).isZero();

        test.submit("mail", () -> null);

        assertThat(gauge("saturated", "mail").getId().getBaseUnit()).isEqualTo("seconds");
        assertThat(value("saturated", "mail")).isPositive().isLessThanOrEqualTo(since(begin));
    }

    @Test
    void theExpectedWaitIsThatOfLimitsThatRejectHopelessCalls() {
        assertThat(registry.find("virtual.thread.limit.expected.wait").gauges()).isEmpty();
        MeterRegistry own = new SimpleMeterRegistry();
        try (MeteredEngine hopeless =
                MeteredEngine.started(own, LimitSettings.of("db", 1).withRejectHopeless(true))) {
            Gauge gauge = own.get("virtual.thread.limit.expected.wait").gauge();
            assertThat(gauge.getId().getBaseUnit()).isEqualTo("seconds");
            assertThat(gauge.value()).isNaN();

            try (Jam jam = new Jam(hopeless.limits.get("db"), Duration.ofSeconds(5))) {
                assertThat(gauge.value()).isGreaterThanOrEqualTo(5);
            }
            assertThat(gauge.value()).isNaN();
        }
    }

    @Test
    void aLimitThatOnlyWatchesHasThoseOfItsShadow() throws Exception {
        assertThat(registry.getMeters())
                .noneMatch(meter -> meter.getId().getName().startsWith("virtual.thread.limit.dry"));
        MeterRegistry own = new SimpleMeterRegistry();
        try (MeteredEngine watched = MeteredEngine.started(
                own, LimitSettings.of("db", 1).withQueueCapacity(1).withDryRun(true))) {
            watched.hold("db");
            watched.hold("db");
            watched.hold("db");
            FunctionTimer wait = own.get("virtual.thread.limit.dry.wait").functionTimer();
            assertThat(dry(own, "waited")).isEqualTo(1);
            assertThat(dry(own, "rejected")).isEqualTo(1);
            assertThat(wait.count()).isEqualTo(1);
            assertThat(wait.totalTime(TimeUnit.NANOSECONDS)).isZero();

            watched.gate.countDown();
            watched.awaitIdle();
            assertThat(wait.count()).isEqualTo(2);
            assertThat(wait.totalTime(TimeUnit.NANOSECONDS)).isPositive();
            watched.limits.get("db").change(now -> now.withDryRun(false));
            assertThat(dry(own, "rejected")).isEqualTo(1);
        }
    }

    @Test
    void aDryRunThatBeginsLaterHasThemFromItsFirstCallOn() throws Exception {
        test.limits.get("db").change(now -> now.withPermits(1).withDryRun(true));
        test.hold("db");
        test.hold("db");

        assertThat(dry(registry, "waited")).isEqualTo(1);
        assertThat(dry(registry, "rejected")).isZero();
    }

    private static double dry(MeterRegistry registry, String what) {
        return registry.get("virtual.thread.limit.dry." + what)
                .tags("limit", "db")
                .functionCounter()
                .count();
    }

    @Test
    void aBodyThatIgnoresItsCancelIsAbandoned() throws Exception {
        test.holdStubbornly("db").cancel(true);

        assertThat(value("abandoned", "db")).isEqualTo(1);
    }

    @Test
    void aLimitThatIsAddedLaterHasThem() {
        test.limits.add(LimitSettings.of("late", 3));
        TaskLimit late = test.limits.get("late");
        test.meters.limits().customize(late);
        test.meters.limits().customize(late); // by a second context, say

        assertThat(value("permits", "late")).isEqualTo(3);
    }

    @Test
    void thoseOfKeysAreThereFromTheFirstCallWithAKeyOn() throws Exception {
        test.submit("db", () -> null).join();
        test.submit(null, () -> null).join();
        assertThat(gaugesOfKeys()).isEmpty();

        test.limits.get("db").setPermitsPerKey(1);
        CountDownLatch running = new CountDownLatch(1);
        keyed("acme", () -> {
            running.countDown();
            test.gate.await();
            return null;
        });
        MeteredEngine.await(running);
        keyed("acme", () -> null);
        keyed("acme", () -> null);
        keyed("smith", () -> null).join();

        assertThat(value("keys", "db")).isEqualTo(1);
        assertThat(value("keys.full", "db")).isEqualTo(1);
        assertThat(value("key.most.waiting", "db")).isEqualTo(2);
        assertThat(gaugesOfKeys()).hasSize(3).allSatisfy(meter -> assertThat(meter.getTags())
                .containsExactly(Tag.of("limit", "db")));
        assertThat(registry.getMeters().toString()).doesNotContain("acme");
    }

    @Test
    void thoseOfKeysAreThereForCallsBeforeTheStart() {
        MeterRegistry late = new SimpleMeterRegistry();
        try (MeteredEngine early = new MeteredEngine(List.of(late), LimitSettings.of("db", 1))) {
            early.engine
                    .submit(early.engine.keyed(early.engine.spec("Shop.price", "db"), "acme"), () -> null)
                    .join();

            early.meters.start();

            assertThat(late.get("virtual.thread.limit.keys").gauge().value()).isZero();
        }
    }

    @Test
    void aKeyWithoutALimitHasNone() {
        test.engine
                .submit(test.engine.keyed(test.engine.spec("Shop.price", null), "acme"), () -> null)
                .join();

        assertThat(gaugesOfKeys()).isEmpty();
    }

    @Test
    void whatRunsWithinALimitRunsUnderItAndWhatWaitsDoesNot() throws Exception {
        test.limits.add(LimitSettings.of("report", 3).withWithin("db"));
        test.meters.limits().customize(test.limits.get("report"));
        test.hold("report");
        test.hold("report");
        test.submit("report", () -> null);

        assertThat(value("available", "db")).isZero();
        assertThat(value("available", "report")).isEqualTo(1);
        assertThat(value("oldest.running", "db")).isPositive();
        assertThat(value("waiting", "db")).isZero();
        assertThat(value("waiting", "report")).isEqualTo(1);
        assertThat(value("saturated", "report")).isPositive(); // it has a permit, and db has none
    }

    private CompletableFuture<@Nullable Object> keyed(String key, TaskBody body) {
        return test.engine.submit(test.engine.keyed(test.engine.spec("Shop.price", "db"), key), body);
    }

    private List<Meter.Id> gaugesOfKeys() {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("virtual.thread.limit.key"))
                .toList();
    }

    @Test
    void aLimitThatIsSpeltAnewRemainsOneSeries() throws Exception {
        test.hold("mail");
        test.limits.showAs("MAIL");
        test.gate.countDown();
        test.awaitIdle();

        assertThat(registry.get("virtual.thread.tasks.active").gauges())
                .singleElement()
                .satisfies(gauge -> assertThat(gauge.value()).isZero());
        assertThat(value("oldest.waiting", "mail")).isZero();
    }

    @Test
    void allMetersOfALimitHaveItsNameAtTheStart() throws Exception {
        MeterRegistry late = new SimpleMeterRegistry();
        try (MeteredEngine early = new MeteredEngine(List.of(late), LimitSettings.of("price-db", 1))) {
            early.submit("price-db", () -> null).join();
            early.awaitIdle();
            early.limits.showAs("priceDb");

            early.meters.start();
            early.limits.showAs("PRICE-DB");
            early.submit("Shop.other", "price-db", () -> null).join();

            assertThat(late.getMeters())
                    .extracting(meter -> meter.getId().getTag("limit"))
                    .containsOnly("priceDb");
        }
    }

    @Test
    void theyKeepTheirValuesAfterAGarbageCollection() {
        test.submit("db", () -> null).join();

        System.gc();

        assertThat(registry.getMeters())
                .filteredOn(Gauge.class::isInstance)
                .hasSize(19)
                .allSatisfy(gauge -> assertThat(((Gauge) gauge).value()).isNotNaN());
    }

    @Test
    void runningCallsAreLookedAtOnceASecondAtMost() {
        AtomicInteger looks = new AtomicInteger();
        AtomicLong clock = new AtomicLong();
        LiveCalls calls = test.engine.liveCalls();
        Supplier<List<LiveCall>> counted = () -> {
            looks.incrementAndGet();
            return calls.running();
        };
        RunningCalls running = new RunningCalls(calls, counted, clock::get, null);

        for (String limit : test.limits.names()) {
            running.oldest(test.limits.get(limit));
            running.oldest(test.limits.get(limit));
        }
        assertThat(looks).hasValue(1);

        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        running.oldest(test.limits.get("db"));
        assertThat(looks).hasValue(2);
    }

    private double value(String gauge, String limit) {
        return gauge(gauge, limit).value();
    }

    private Gauge gauge(String name, String limit) {
        return registry.get("virtual.thread.limit." + name).tags("limit", limit).gauge();
    }

    private static double since(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }
}
