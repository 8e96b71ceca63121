package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is observed of each call, without context-propagation. */
@Timeout(300)
class TaskObservationsTests extends ObservedCalls {

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

    private static void awaitEnd(CompletableFuture<?> future) {
        future.handle((value, failure) -> true).orTimeout(2, TimeUnit.MINUTES).join();
    }

    private static final class GlobalConvention extends DefaultTaskObservationConvention
            implements GlobalObservationConvention<TaskObservationContext> {

        @Override
        public String getName() {
            return "global.task";
        }
    }
}
