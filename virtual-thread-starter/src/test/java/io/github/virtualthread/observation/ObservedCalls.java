package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** An engine whose calls are observed, and a recorder of what is observed. */
abstract class ObservedCalls {

    final ObservationRegistry registry = ObservationRegistry.create();
    final Recorder recorder = new Recorder();
    final CountDownLatch gate = new CountDownLatch(1);
    final TaskTimer timer = new TaskTimer("observed-timer");

    @Nullable
    TaskObservationConvention convention;

    final TaskObservations observations = new TaskObservations(() -> registry, () -> convention);
    final TaskEngine engine = new TaskEngine(
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

    ObservedCalls() {
        registry.observationConfig().observationHandler(recorder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        engine.close();
        timer.close();
        assertThat(observations.runs).isEmpty();
    }

    CompletableFuture<?> submit(@Nullable String limit, TaskBody body) {
        return engine.submit(engine.spec("Shop.price", limit), body);
    }

    void awaitIdle() {
        engine.stop(Duration.ofMinutes(2));
    }

    /** Every observation that has ended. */
    static final class Recorder implements ObservationHandler<Observation.Context> {

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
}
