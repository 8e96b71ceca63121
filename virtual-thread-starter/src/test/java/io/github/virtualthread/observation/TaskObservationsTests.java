package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is observed of each call, without context-propagation. */
@Timeout(300)
class TaskObservationsTests {

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final Recorder recorder = new Recorder();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final TaskTimer timer = new TaskTimer("observed-timer");
    private @Nullable TaskObservationConvention convention;
    private final TaskObservations observations = new TaskObservations(() -> registry, () -> convention);
    private final TaskEngine engine = new TaskEngine(
            new TaskLimits(
                    List.of(
                            LimitSettings.of("db", 1),
                            LimitSettings.of("small", 1).withQueueCapacity(0),
                            LimitSettings.of("slow", 1).withMaxWait(Duration.ofMillis(1))),
                    timer,
                    change -> {}),
            ContextPropagation.none(),
            timer,
            new TaskThreads("vt-", getClass().getClassLoader()),
            new CallExtensions(() -> List.of(observations), List::of),
            false);

    TaskObservationsTests() {
        registry.observationConfig().observationHandler(recorder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        engine.close();
        timer.close();
        assertThat(observations.runs).isEmpty();
    }

    @Test
    void aRunIsOneObservationWithItsKeys() {
        submit("db", () -> "value").join();

        Observation.Context run = recorder.only();
        assertThat(run.getName()).isEqualTo("virtual.thread.task");
        assertThat(run.getContextualName()).isEqualTo("Shop.price");
        assertThat(run.getLowCardinalityKeyValues())
                .containsExactly(
                        KeyValue.of("limit", "db"),
                        KeyValue.of("method", "Shop.price"),
                        KeyValue.of("outcome", "success"));
        assertThat(run.getHighCardinalityKeyValues()).containsExactly(KeyValue.of("thread", "vt-Shop.price-1"));
        assertThat(run.getError()).isNull();
    }

    @Test
    void aCallWithoutALimitHasLimitNone() {
        submit(null, () -> "value").join();

        assertThat(recorder.key("limit")).isEqualTo("none");
    }

    @Test
    void theObservationIsCurrentForTheBodyAndNotAfterwards() {
        CompletableFuture<Observation> inContinuation = new CompletableFuture<>();
        CountDownLatch attached = new CountDownLatch(1);

        CompletableFuture<?> future = submit("db", () -> {
            attached.await();
            return registry.getCurrentObservation();
        });
        future.thenRun(() -> inContinuation.complete(registry.getCurrentObservation()));
        attached.countDown();

        assertThat(((Observation) Objects.requireNonNull(future.join())).getContext())
                .isSameAs(recorder.only());
        assertThat(inContinuation.join()).isNull();
    }

    @Test
    void itsParentIsWhatWasCurrentWhenTheCallWasMade() {
        CompletableFuture<?> held = submit("db", () -> {
            gate.await();
            return null;
        });
        Observation request = Observation.start("request", registry);
        CompletableFuture<?> waiting =
                request.scoped(() -> engine.submit(engine.spec("Shop.stock", "db"), () -> "value"));
        gate.countDown();
        CompletableFuture.allOf(held, waiting).join();

        // in any order: the first gives its permit back before it is told to have ended
        assertThat(recorder.stopped)
                .extracting(Observation.Context::getContextualName, Observation.Context::getParentObservation)
                .containsExactlyInAnyOrder(tuple("Shop.price", null), tuple("Shop.stock", request));
    }

    @Test
    void aCallMadeByATaskIsItsChild() {
        submit(null, () -> submit(null, () -> "value")).join();

        Observation.Context inner = Objects.requireNonNull(recorder.stopped.poll());
        Observation.Context outer = Objects.requireNonNull(recorder.stopped.poll());
        assertThat(Objects.requireNonNull(inner.getParentObservation()).getContextView())
                .isSameAs(outer);
    }

    @Test
    void aFailureIsTheErrorOfItsObservation() {
        IOException broken = new IOException("broken");

        awaitEnd(submit("db", () -> {
            throw broken;
        }));

        assertThat(recorder.only().getError()).isSameAs(broken);
        assertThat(recorder.key("outcome")).isEqualTo("error");
    }

    @Test
    void aTimeoutIsAnErrorToo() {
        awaitEnd(engine.submit(engine.spec("Shop.price", "db", Duration.ofMillis(1)), () -> {
            gate.await();
            return null;
        }));
        awaitIdle(); // the future does not wait for the body

        assertThat(recorder.only().getError()).isInstanceOf(TimeoutException.class);
        assertThat(recorder.key("outcome")).isEqualTo("timeout");
    }

    @Test
    void aRunThatIsCancelledIsObservedToItsEnd() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<?> cancelled = submit("db", () -> {
            running.countDown();
            gate.await();
            return null;
        });
        assertThat(running.await(2, TimeUnit.MINUTES)).isTrue();

        cancelled.cancel(true);
        awaitIdle();

        assertThat(recorder.key("outcome")).isEqualTo("cancelled");
    }

    @Test
    void whatNeverRunsIsNotObservedAndNotKept() {
        CompletableFuture<?> held = submit("small", this::hold);
        CompletableFuture<?> slow = submit("slow", this::hold);
        CompletableFuture<?> db = submit("db", this::hold);

        awaitEnd(submit("small", () -> null));
        awaitEnd(submit("slow", () -> null));
        submit("db", () -> null).cancel(false);

        assertThat(observations.runs).hasSize(3);
        gate.countDown();
        CompletableFuture.allOf(held, slow, db).join();
        assertThat(recorder.stopped).hasSize(3);
    }

    @Test
    void aCallOnItsCallersThreadIsObserved() throws Throwable {
        Observation request = Observation.start("request", registry);
        try (Observation.Scope scope = request.openScope()) {
            engine.call(engine.spec("Shop.price", "db"), () -> {
                assertThat(registry.getCurrentObservation()).isNotSameAs(request);
                return null;
            });
            assertThat(registry.getCurrentObservation()).isSameAs(request);
        }

        assertThat(recorder.only().getParentObservation()).isSameAs(request);
    }

    @Test
    void aCallOnItsCallersThreadThatFailsIsObserved() {
        IOException broken = new IOException("broken");

        assertThatThrownBy(() -> engine.call(engine.spec("Shop.price", "db"), () -> {
                    throw broken;
                }))
                .isSameAs(broken);

        assertThat(recorder.only().getError()).isSameAs(broken);
    }

    @Test
    void aConventionOfTheUsersNamesTheObservation() {
        convention = new DefaultTaskObservationConvention() {
            @Override
            public String getName() {
                return "shop.task";
            }
        };

        submit("db", () -> "value").join();

        assertThat(recorder.only().getName()).isEqualTo("shop.task");
    }

    @Test
    void aConventionOfTheRegistryIsUsedWhereTheUserHasNone() {
        registry.observationConfig().observationConvention(new GlobalConvention());

        submit("db", () -> "value").join();

        assertThat(recorder.only().getName()).isEqualTo("global.task");
    }

    @Test
    void aConventionThatThrowsAtTheStartLosesNeitherCallNorPermit() {
        convention = new DefaultTaskObservationConvention() {
            @Override
            public KeyValues getLowCardinalityKeyValues(TaskObservationContext context) {
                throw new IllegalStateException("broken convention");
            }
        };

        assertThat(submit("db", () -> "value").join()).isEqualTo("value");
        assertThat(submit("db", registry::getCurrentObservation).join()).isNull();
        assertThat(recorder.stopped).isEmpty();
    }

    @Test
    void aConventionThatThrowsAtTheEndLosesNeitherCallNorPermit() {
        convention = new DefaultTaskObservationConvention() {
            @Override
            public KeyValues getLowCardinalityKeyValues(TaskObservationContext context) {
                if (context.outcome() != null) {
                    throw new IllegalStateException("broken convention");
                }
                return super.getLowCardinalityKeyValues(context);
            }
        };

        assertThat(submit("db", () -> "value").join()).isEqualTo("value");
        assertThat(submit("db", () -> "again").join()).isEqualTo("again");
        assertThat(recorder.open).hasValue(0);
    }

    @Test
    void aHandlerThatThrowsLeavesNothingCurrent() {
        registry.observationConfig().observationHandler(brokenAt("onScopeClosed", "onStop"));
        CompletableFuture<Observation> afterwards = new CompletableFuture<>();
        CountDownLatch attached = new CountDownLatch(1);

        CompletableFuture<?> future = submit("db", () -> {
            attached.await();
            return "value";
        });
        future.thenRun(() -> afterwards.complete(registry.getCurrentObservation()));
        attached.countDown();

        assertThat(future.join()).isEqualTo("value");
        assertThat(afterwards.join()).isNull();
    }

    @Test
    void aHandlerThatThrowsAtTheStartLeavesNoObservationOfOthersOpen() {
        registry.observationConfig().observationHandler(brokenAt("onStart"));

        assertThat(submit("db", () -> "value").join()).isEqualTo("value");
        awaitIdle();

        assertThat(recorder.started).hasValue(1);
        assertThat(recorder.key("outcome")).isEqualTo("success");
    }

    @Test
    void aHandlerThatThrowsAtTheBeginOfAScopeLeavesNoScopeOfOthersOpen() throws Throwable {
        registry.observationConfig().observationHandler(brokenAt("onScopeOpened"));

        Object current = engine.call(engine.spec("Shop.price", "db"), registry::getCurrentObservation);

        assertThat(current).isNull();
        assertThat(recorder.open).hasValue(0);
        assertThat(recorder.key("outcome")).isEqualTo("success");
    }

    @Test
    void aRegistryWithoutHandlersKeepsNothing() {
        TaskObservations idle = new TaskObservations(() -> ObservationRegistry.NOOP, () -> null);
        try (TaskEngine unobserved = new TaskEngine(
                new TaskLimits(List.of(), timer, change -> {}),
                ContextPropagation.none(),
                timer,
                new TaskThreads("vt-", getClass().getClassLoader()),
                new CallExtensions(() -> List.of(idle, new TaskListener() {}), List::of),
                false)) {
            assertThat(idle.hears(unobserved.spec("Shop.price", null))).isFalse();
            assertThat(unobserved
                            .submit(unobserved.spec("Shop.price", null), () -> idle.runs.size())
                            .join())
                    .isEqualTo(0);
        }
    }

    @Test
    void tenThousandCallsOfAllEndingsLeaveNothingBehind() {
        int number = 10_000;
        List<CompletableFuture<?>> futures = new ArrayList<>(number);
        for (int i = 0; i < number; i++) {
            int mine = i;
            String limit =
                    switch (i % 4) {
                        case 0 -> "small";
                        case 1 -> "slow";
                        case 2 -> "db";
                        default -> null;
                    };
            CompletableFuture<?> future = submit(limit, () -> {
                if (mine % 3 == 0) {
                    throw new IOException("broken");
                }
                return mine;
            });
            if (i % 5 == 0) {
                future.cancel(i % 2 == 0);
            }
            futures.add(future);
        }
        futures.forEach(TaskObservationsTests::awaitEnd);
        awaitIdle();

        assertThat(observations.runs).isEmpty();
        assertThat(recorder.stopped).hasSize(recorder.started.get());
        assertThat(recorder.open).hasValue(0);
    }

    private @Nullable Object hold() throws InterruptedException {
        gate.await();
        return null;
    }

    private CompletableFuture<?> submit(@Nullable String limit, TaskBody body) {
        return engine.submit(engine.spec("Shop.price", limit), body);
    }

    private static void awaitEnd(CompletableFuture<?> future) {
        future.handle((value, failure) -> true).orTimeout(2, TimeUnit.MINUTES).join();
    }

    private void awaitIdle() {
        engine.stop(Duration.ofMinutes(2));
    }

    /** Every observation that has ended. */
    private static final class Recorder implements ObservationHandler<Observation.Context> {

        final Queue<Observation.Context> stopped = new ConcurrentLinkedQueue<>();
        final AtomicInteger started = new AtomicInteger();
        final AtomicInteger open = new AtomicInteger();

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof TaskObservationContext;
        }

        @Override
        public void onStart(Observation.Context context) {
            assertThat(context.getLowCardinalityKeyValue("outcome")).isEqualTo(KeyValue.of("outcome", "unknown"));
            started.incrementAndGet();
        }

        @Override
        public void onScopeOpened(Observation.Context context) {
            open.incrementAndGet();
        }

        @Override
        public void onScopeClosed(Observation.Context context) {
            open.decrementAndGet();
        }

        @Override
        public void onStop(Observation.Context context) {
            stopped.add(context);
        }

        Observation.Context only() {
            assertThat(stopped).hasSize(1);
            return Objects.requireNonNull(stopped.peek());
        }

        String key(String key) {
            return Objects.requireNonNull(only().getLowCardinalityKeyValue(key)).getValue();
        }
    }

    private static final class GlobalConvention extends DefaultTaskObservationConvention
            implements GlobalObservationConvention<TaskObservationContext> {

        @Override
        public String getName() {
            return "global.task";
        }
    }

    /** A handler that throws at these moments. */
    @SuppressWarnings("unchecked")
    private static ObservationHandler<Observation.Context> brokenAt(String... moments) {
        return (ObservationHandler<Observation.Context>) Proxy.newProxyInstance(
                TaskObservationsTests.class.getClassLoader(),
                new Class<?>[] {ObservationHandler.class},
                (proxy, method, arguments) -> {
                    if (List.of(moments).contains(method.getName())) {
                        throw new IllegalStateException("broken at " + method.getName());
                    }
                    return method.getName().equals("supportsContext") ? true : null;
                });
    }
}
