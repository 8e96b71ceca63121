package io.github.virtualthread.docs.observing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadMetricsAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadObservationAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.observation.TaskObservationDocumentation;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.tracing.MicrometerTracingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** What observing.md says about traces. */
@Timeout(300)
class TracingPageTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadMetricsAutoConfiguration.class,
                    VirtualThreadObservationAutoConfiguration.class,
                    ObservationAutoConfiguration.class,
                    MicrometerTracingAutoConfiguration.class,
                    MetricsAutoConfiguration.class,
                    SimpleMetricsExportAutoConfiguration.class))
            .withPropertyValues("virtual-thread.observation.enabled=true")
            .withBean(SimpleTracer.class);

    @Test
    void thePageNamesEveryKey() {
        Stream<KeyName> keys = Stream.concat(
                Arrays.stream(TaskObservationDocumentation.RUN.getLowCardinalityKeyNames()),
                Arrays.stream(TaskObservationDocumentation.RUN.getHighCardinalityKeyNames()));

        assertThat(keys.map(key -> "| `%s` |".formatted(key.asString())))
                .allSatisfy(row -> assertThat(Pages.text("docs/observing.md")).contains(row));
    }

    @Test
    void aConventionThatIsABeanAddsItsKeys() {
        runner.withBean(TeamConvention.class).run(context -> {
            context.getBean(VirtualThreads.class).submit(() -> "done").join();

            assertThat(context.getBean(SimpleTracer.class).onlySpan().getTags()).containsEntry("team", "prices");
        });
    }

    @Test
    void theMetersOfObservationsCanBeSwitchedOffAlone() {
        runner.run(context -> {
            context.getBean(VirtualThreads.class).submit(() -> "done").join();

            assertThat(context.getBean(MeterRegistry.class)
                            .find("virtual.thread.task")
                            .timer())
                    .isNotNull();
        });
        runner.withPropertyValues("management.metrics.enable.virtual.thread.task=false")
                .run(context -> {
                    context.getBean(VirtualThreads.class).submit(() -> "done").join();
                    MeterRegistry meters = context.getBean(MeterRegistry.class);

                    assertThat(context.getBean(SimpleTracer.class).getSpans()).hasSize(1);
                    assertThat(meters.getMeters())
                            .extracting(meter -> meter.getId().getName())
                            .filteredOn(name -> name.startsWith("virtual.thread."))
                            .contains("virtual.thread.tasks")
                            .noneMatch(name -> name.matches("virtual\\.thread\\.task(\\.active)?"));
                });
    }

    @Test
    void plainSpringObservesByABean() {
        CompletableFuture<String> observed = new CompletableFuture<>();
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onStop(Observation.Context context) {
                observed.complete(context.getName());
            }
        });
        try (var context = new AnnotationConfigApplicationContext()) {
            context.registerBean(ObservationRegistry.class, () -> registry);
            context.register(PlainObservations.class);
            context.refresh();
            context.getBean(VirtualThreads.class).submit(() -> "done").join();
        }

        assertThat(observed).isCompletedWithValue("virtual.thread.task");
    }
}
