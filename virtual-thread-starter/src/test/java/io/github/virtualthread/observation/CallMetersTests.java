package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** What each call leaves in the registry. */
@Timeout(300)
class CallMetersTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Figures figures = new Figures(registry);
    private final MeteredEngine test =
            MeteredEngine.started(registry, LimitSettings.of("db", 1).withQueueCapacity(1));

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void aCallThatSucceedsIsSubmittedAndTimed() throws Exception {
        test.submit("db", () -> "value").join();
        test.awaitIdle();

        assertThat(submitted("db")).isEqualTo(1);
        assertThat(tasks("db", "success", "none").count()).isEqualTo(1);
        assertThat(tasks("db", "success", "none").totalTime(TimeUnit.NANOSECONDS))
                .isPositive();
        assertThat(waits("db")).isEqualTo(1);
        assertThat(active("db")).isZero();
    }

    @Test
    void aStuckCallIsCountedAndAPinIsTimed() throws Exception {
        test.hold("db");
        test.submit("db", () -> null);
        TaskCall call =
                test.engine.liveCalls().running(test.limits.get("db")).get(0).call();

        test.meters.calls().stuck(call);
        test.meters.calls().pinned("Shop.price", Duration.ofMillis(41));

        assertThat(figures.count("stuck", "limit", "db")).isEqualTo(1);
        assertThat(figures.timer("pinned", "method", "Shop.price").totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(41);
    }

    @Test
    void aCallIsActiveWhileItsBodyRuns() throws Exception {
        CompletableFuture<?> running = test.hold("db");
        test.submit("db", () -> null);

        assertThat(submitted("db")).isEqualTo(2);
        assertThat(active("db")).isEqualTo(1);

        test.gate.countDown();
        running.join();
        test.awaitIdle();

        assertThat(active("db")).isZero();
    }

    @Test
    void aFailureIsAnErrorWithTheSimpleNameOfItsClass() throws Exception {
        test.submit("db", () -> {
            throw new IllegalStateException();
        });
        test.awaitIdle();
        test.submit("db", () -> {
            throw new IllegalArgumentException() {};
        });
        test.awaitIdle();

        assertThat(tasks("db", "error", "IllegalStateException").count()).isEqualTo(1);
        assertThat(tasks("db", "error", "IllegalArgumentException").count()).isEqualTo(1);
    }

    @Test
    void aBodyThatRunsTooLongHasTimedOut() throws Exception {
        test.submit(Duration.ofMillis(1), "db", () -> {
            test.gate.await();
            return null;
        });
        test.awaitIdle();

        assertThat(tasks("db", "timeout", "CallTimeoutException").count()).isEqualTo(1);
    }

    @Test
    void aRunningCallThatIsCancelledIsTimed() throws Exception {
        test.hold("db").cancel(true);
        test.awaitIdle();

        Timer cancelled = tasks("db", "cancelled", "CallCancelledException");
        assertThat(cancelled.count()).isEqualTo(1);
        assertThat(cancelled.totalTime(TimeUnit.NANOSECONDS)).isPositive();
        assertThat(active("db")).isZero();
    }

    @Test
    void aCallThatIsCancelledWhileItWaitsHasRunForNoTime() throws Exception {
        test.hold("db");
        test.submit("db", () -> null).cancel(true);

        Timer cancelled = tasks("db", "cancelled", "none");
        assertThat(cancelled.count()).isEqualTo(1);
        assertThat(cancelled.totalTime(TimeUnit.NANOSECONDS)).isZero();
        assertThat(waits("db")).isEqualTo(1); // of the one that runs
        assertThat(active("db")).isEqualTo(1);
    }

    @Test
    void aRefusedCallIsRejectedAndNoTask() throws Exception {
        test.hold("db");
        test.submit("db", () -> null);
        test.submit("db", () -> null);

        assertThat(submitted("db")).isEqualTo(3);
        assertThat(figures.count("rejected", "method", "Shop.price", "limit", "db", "reason", "QUEUE_FULL"))
                .isEqualTo(1);
        assertThat(registry.find("virtual.thread.tasks").timers().stream().mapToLong(Timer::count))
                .containsOnly(0L);
    }

    @Test
    void aCallOnTheThreadOfItsCallerIsCountedToo() throws Exception {
        test.threads.call("db", () -> "value");

        assertThat(registry.get("virtual.thread.tasks")
                        .tags("limit", "db", "outcome", "success")
                        .timers())
                .anyMatch(timer -> timer.count() == 1);
    }

    @Test
    void callsByHandOfOneNameAreOneSeries() throws Exception {
        test.submit(null, () -> null).join();
        test.awaitIdle();
        int before = registry.getMeters().size();
        for (int i = 0; i < 1000; i++) {
            test.submit(new String("Shop.price"), null, () -> null).join();
        }
        test.awaitIdle();

        assertThat(registry.getMeters()).hasSize(before);
        assertThat(tasks("none", "success", "none").count()).isEqualTo(1001);
    }

    @Test
    void whatHappensBeforeTheStartIsRecordedThen() throws Exception {
        Figures late = new Figures(new SimpleMeterRegistry());
        try (MeteredEngine early = new MeteredEngine(List.of(late.registry()), LimitSettings.of("db", 1))) {
            early.submit("db", () -> null).join();
            early.awaitIdle();
            CompletableFuture<?> running = early.hold("db");
            early.submit("db", () -> null).cancel(true);
            assertThat(late.registry().getMeters()).isEmpty();

            early.meters.start();

            assertThat(late.count("submitted")).isEqualTo(3);
            assertThat(late.value("tasks.active")).isEqualTo(1);
            early.gate.countDown();
            running.join();
            early.awaitIdle();
            assertThat(late.timer("tasks", "outcome", "success").count()).isEqualTo(2);
            assertThat(late.timer("tasks", "outcome", "cancelled").count()).isEqualTo(1);
            assertThat(late.value("tasks.active")).isZero();
        }
    }

    @Test
    void severalRegistriesWithoutAPrimaryOneAllGetTheMeters() throws Exception {
        MeterRegistry first = new SimpleMeterRegistry();
        MeterRegistry second = new SimpleMeterRegistry();
        try (MeteredEngine both = new MeteredEngine(List.of(first, second), LimitSettings.of("db", 3))) {
            both.meters.start();
            both.submit("db", () -> null).join();

            assertThat(Stream.of(first, second).map(Figures::new)).allSatisfy(each -> {
                assertThat(each.count("submitted")).isEqualTo(1);
                assertThat(each.value("limit.permits")).isEqualTo(3);
            });
        }
        assertThat(first.getMeters()).isEmpty();
        assertThat(second.getMeters()).isEmpty();
    }

    @Test
    void aFilterThatTakesTheMethodAwayLeavesTheSum() throws Exception {
        MeterRegistry narrow = new SimpleMeterRegistry();
        narrow.config().meterFilter(MeterFilter.ignoreTags("method"));
        try (MeteredEngine one = MeteredEngine.started(narrow, LimitSettings.of("db", 5))) {
            one.hold("db");
            one.hold("db");
            one.submit("Shop.other", "db", () -> {
                one.gate.await();
                return null;
            });
            one.submit("Shop.third", "db", () -> null).join();

            Figures sums = new Figures(narrow);
            assertThat(sums.count("submitted")).isEqualTo(4);
            await().atMost(2, TimeUnit.MINUTES).until(() -> sums.value("tasks.active") == 3);
            one.gate.countDown();
        }
    }

    @Test
    void withoutARegistryCallsAreAsEver() throws Exception {
        try (MeteredEngine none = new MeteredEngine(List.of(), LimitSettings.of("db", 1))) {
            none.submit("db", () -> null).join();
            assertThat(none.hears()).as("before it is known").isTrue();
            none.meters.start();

            assertThat(none.submit("db", () -> "value").join()).isEqualTo("value");
            assertThat(none.hears()).isFalse();
        }
    }

    @Test
    void aRegistryThatIsFoundAtALaterStartCountsFromThenOn() {
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        try (MeteredEngine late = new MeteredEngine(beans, null, LimitSettings.of("db", 1))) {
            late.meters.start();
            late.submit("db", () -> "value").join();
            beans.addBean("registry", registry);
            late.meters.start();

            late.submit("db", () -> "value").join();

            assertThat(late.hears()).isTrue();
            assertThat(submitted("db")).isEqualTo(1);
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @NullSource
    @ValueSource(strings = "db")
    void aStuckCallIsThereUntilItsBodyEnds(@Nullable String limit) throws Exception {
        test.submit("Shop.price", limit, () -> null).join();
        test.awaitIdle();
        assertThat(registry.find("virtual.thread.tasks.stuck").gauges()).isEmpty();
        CompletableFuture<?> held = test.hold(limit);

        for (LiveCall live : test.engine.liveCalls().running()) {
            test.meters.calls().stuck(live.call());
        }
        Gauge stuck = registry.get("virtual.thread.tasks.stuck")
                .tags("method", "Shop.price", "limit", limit == null ? "none" : limit)
                .gauge();
        assertThat(stuck.value()).isEqualTo(1);
        held.cancel(true);
        test.awaitIdle();

        await().atMost(2, TimeUnit.MINUTES).until(() -> stuck.value() == 0);
    }

    @Test
    void aBodyThatIgnoresItsCancelIsStuckStill() throws Exception {
        CompletableFuture<?> call = test.holdStubbornly("db");
        LiveCall live = test.engine.liveCalls().running().get(0);
        call.cancel(true);
        test.meters.calls().stuck(live.call());

        assertThat(figures.value("tasks.stuck")).isEqualTo(1);
    }

    @Test
    void callsThatHaveNotRunLongEnoughAreNotStuck() throws Exception {
        test.hold("db");
        AtomicLong clock = new AtomicLong();
        LiveCalls calls = test.engine.liveCalls();
        LiveCall live = calls.running().get(0);

        assertThat(new RunningCalls(calls, calls::running, clock::get, Duration.ofHours(1))
                        .stuck(live.call().spec()))
                .isZero();
        assertThat(new RunningCalls(calls, calls::running, clock::get, null)
                        .stuck(live.call().spec()))
                .isZero();
    }

    private double submitted(String limit) {
        return figures.count("submitted", "method", "Shop.price", "limit", limit);
    }

    private Timer tasks(String limit, String outcome, String exception) {
        return figures.timer(
                "tasks", "method", "Shop.price", "limit", limit, "outcome", outcome, "exception", exception);
    }

    private long waits(String limit) {
        return figures.timer("wait", "method", "Shop.price", "limit", limit).count();
    }

    private double active(String limit) {
        return figures.value("tasks.active", "method", "Shop.price", "limit", limit);
    }
}
