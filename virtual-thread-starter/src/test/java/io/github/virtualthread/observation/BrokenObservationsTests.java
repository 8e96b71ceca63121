package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Conventions and handlers that throw lose neither a call nor its permit, and leave nothing open. */
@Timeout(300)
class BrokenObservationsTests extends ObservedCalls {

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

    /** A handler that throws at these moments. */
    @SuppressWarnings("unchecked")
    private static ObservationHandler<Observation.Context> brokenAt(String... moments) {
        return (ObservationHandler<Observation.Context>) Proxy.newProxyInstance(
                BrokenObservationsTests.class.getClassLoader(),
                new Class<?>[] {ObservationHandler.class},
                (proxy, method, arguments) -> {
                    if (List.of(moments).contains(method.getName())) {
                        throw new IllegalStateException("broken at " + method.getName());
                    }
                    return method.getName().equals("supportsContext") ? true : null;
                });
    }
}
