package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.observation.TaskObservations;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.tracing.BraveAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.tracing.MicrometerTracingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.task.TaskDecorator;

/** Runs as observations, and as spans where a tracer is there. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ObservationAutoConfigurationTests {

    private static final String ENABLED = "virtual-thread.observation.enabled=true";

    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadMetricsAutoConfiguration.class,
                    VirtualThreadObservationAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1")
            .withBean(Prices.class);

    private final ApplicationContextRunner runner =
            plain.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class));

    private final ApplicationContextRunner traced = runner.withConfiguration(
                    AutoConfigurations.of(MicrometerTracingAutoConfiguration.class))
            .withBean(SimpleTracer.class)
            .withPropertyValues(ENABLED);

    private final ApplicationContextRunner brave = runner.withConfiguration(
                    AutoConfigurations.of(BraveAutoConfiguration.class, MicrometerTracingAutoConfiguration.class))
            .withPropertyValues(ENABLED);

    @Test
    void nothingIsObservedUnlessAskedFor() {
        runner.run(context -> assertThat(context).doesNotHaveBean(TaskObservations.class));
        runner.withPropertyValues("virtual-thread.observation.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(TaskObservations.class));
    }

    @Test
    void theApplicationsOwnObservationsTakeTheirPlace() {
        runner.withPropertyValues(ENABLED)
                .withBean(
                        "own",
                        TaskObservations.class,
                        () -> new TaskObservations(() -> ObservationRegistry.NOOP, () -> null))
                .run(context -> assertThat(context.getBeansOfType(TaskObservations.class))
                        .containsOnlyKeys("own"));
    }

    @Test
    void anApplicationWithoutMicrometerStartsAllTheSame() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadMetricsAutoConfiguration.class,
                        VirtualThreadObservationAutoConfiguration.class))
                .withPropertyValues(ENABLED)
                .withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> {
                    assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean("virtualThreadMeters")
                            .doesNotHaveBean("virtualThreadObservations");
                    assertThat(context.getBean(VirtualThreads.class)
                                    .submit(() -> "found")
                                    .join())
                            .isEqualTo("found");
                });
    }

    @Test
    void anApplicationWithoutARegistryRunsUnobserved() {
        plain.withPropertyValues(ENABLED).run(context -> {
            assertThat(context).hasSingleBean(TaskObservations.class);
            assertThat(context.getBean(Prices.class).find().join()).isEqualTo("found");
        });
    }

    @Test
    void aRegistryIsFoundWhereverItComesFrom() {
        SimpleTracer tracer = new SimpleTracer();
        plain.withPropertyValues(ENABLED)
                .withBean(ObservationRegistry.class, () -> registry(tracer), definition -> definition.setLazyInit(true))
                .run(context -> {
                    assertThat(context.getBeanFactory().getSingleton("observationRegistry"))
                            .isNull();
                    context.getBean(Prices.class).find().join();

                    assertThat(tracer.onlySpan().getName()).isEqualTo("prices.find");
                });
    }

    @Test
    void theSpanOfATaskIsAChildOfTheSpanOfItsRequest() {
        traced.run(context -> {
            Prices prices = context.getBean(Prices.class);
            request(context.getBean(ObservationRegistry.class)).observe(() -> {
                prices.find().join();
                prices.limited();
            });

            Map<String, SimpleSpan> spans = context.getBean(SimpleTracer.class).getSpans().stream()
                    .collect(Collectors.toMap(SimpleSpan::getName, Function.identity()));
            SimpleSpan request = spans.get("request");
            for (String name : new String[] {"prices.find", "prices.limited"}) {
                assertThat(spans.get(name).getTraceId()).isEqualTo(request.getTraceId());
                assertThat(spans.get(name).getParentId()).isEqualTo(request.getSpanId());
                assertThat(spans.get(name).getTags())
                        .containsEntry("limit", "db")
                        .containsEntry("outcome", "success")
                        .containsKeys("method", "thread");
            }
        });
    }

    @Test
    void theMdcOfATaskHasTheTraceOfItsCallerAndASpanOfItsOwn() {
        CountDownLatch gate = new CountDownLatch(1);
        brave.run(context -> {
            Prices prices = context.getBean(Prices.class);
            request(context.getBean(ObservationRegistry.class)).observe(() -> {
                Map<String, String> caller = MDC.getCopyOfContextMap();
                Map<String, String> body = prices.mdc().join();
                CompletableFuture<Map<String, String>> continued =
                        prices.held(gate).thenApply(none -> MDC.getCopyOfContextMap());
                gate.countDown();

                assertThat(caller.get("traceId")).isNotBlank();
                assertThat(body).containsEntry("traceId", caller.get("traceId"));
                assertThat(body.get("spanId")).isNotBlank().isNotEqualTo(caller.get("spanId"));
                assertThat(continued.join()).isEqualTo(caller);
                assertThat(MDC.getCopyOfContextMap()).isEqualTo(caller);
            });
        });
    }

    @Test
    void scopesAreClosedInOrderWhereATaskDecoratorIsThere(CapturedOutput output) {
        CountDownLatch gate = new CountDownLatch(1);
        brave.withBean(TaskDecorator.class, () -> ObservationAutoConfigurationTests::copyMdc)
                .run(context -> {
                    Prices prices = context.getBean(Prices.class);
                    ObservationRegistry registry = context.getBean(ObservationRegistry.class);
                    Observation request = request(registry);
                    request.observe(() -> {
                        Map<String, String> caller = MDC.getCopyOfContextMap();
                        CompletableFuture<Observation> current = new CompletableFuture<>();
                        CompletableFuture<Map<String, String>> continued = prices.held(gate)
                                .thenApply(none -> {
                                    current.complete(registry.getCurrentObservation());
                                    return MDC.getCopyOfContextMap();
                                });
                        gate.countDown();

                        assertThat(continued.join()).isEqualTo(caller);
                        assertThat(current.join()).isSameAs(request);
                        assertThat(prices.mdc().join())
                                .as("the span of the task is not in its MDC then")
                                .isEqualTo(caller);
                    });
                    assertThat(context.getBean(VirtualThreads.class).awaitIdle(Duration.ofMinutes(2)))
                            .isTrue();
                });
        assertThat(output).doesNotContain("WARN").doesNotContain("ERROR");
    }

    /** As many applications have it. */
    private static Runnable copyMdc(Runnable body) {
        Map<String, String> caller = MDC.getCopyOfContextMap();
        return () -> {
            MDC.setContextMap(caller);
            try {
                body.run();
            } finally {
                MDC.clear();
            }
        };
    }

    private static Observation request(ObservationRegistry registry) {
        return Observation.createNotStarted("request", registry);
    }

    private static ObservationRegistry registry(SimpleTracer tracer) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
        return registry;
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<String> find() {
            return CompletableFuture.completedFuture("found");
        }

        @VirtualThread("db")
        public CompletableFuture<Map<String, String>> mdc() {
            return CompletableFuture.completedFuture(MDC.getCopyOfContextMap());
        }

        @VirtualThread("db")
        public CompletableFuture<String> held(CountDownLatch gate) {
            assertThat(awaitOpen(gate)).isTrue();
            return CompletableFuture.completedFuture(null);
        }

        @Limited("db")
        public void limited() {}

        private static boolean awaitOpen(CountDownLatch gate) {
            try {
                return gate.await(2, TimeUnit.MINUTES);
            } catch (InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        }
    }
}
