package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.observation.Figures;
import io.github.virtualthread.observation.TaskMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.annotation.PostConstruct;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Meters in an application. */
@Timeout(300)
class MetersAutoConfigurationTests {

    private final ApplicationContextRunner withoutRegistry = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadMetricsAutoConfiguration.class, VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=2")
            .withBean(Prices.class);

    private final ApplicationContextRunner runner = withoutRegistry.withConfiguration(AutoConfigurations.of(
            MetricsAutoConfiguration.class,
            CompositeMeterRegistryAutoConfiguration.class,
            SimpleMetricsExportAutoConfiguration.class));

    @Test
    void annotatedMethodsAndLimitsHaveMeters() {
        runner.run(context -> {
            assertThat(figures(context).value("limit.permits", "limit", "db")).isEqualTo(2);

            context.getBean(Prices.class).price().join();

            assertThat(figures(context)
                            .timer("tasks", "method", "Prices.price", "limit", "db", "outcome", "success")
                            .count())
                    .isEqualTo(1);
        });
    }

    @Tag("slow")
    @Test
    @Timeout(300) // the watch has its own pace
    void aCallIsStuckAfterTheTimeOfTheProperty() {
        CountDownLatch release = new CountDownLatch(1);
        runner.withPropertyValues("virtual-thread.stuck-after=1ms").run(context -> {
            CompletableFuture<?> held =
                    context.getBean(VirtualThreads.class).submit("db", () -> release.await(2, TimeUnit.MINUTES));
            MeterRegistry registry = context.getBean(MeterRegistry.class);

            await().atMost(2, TimeUnit.MINUTES)
                    .until(
                            () -> registry.find("virtual.thread.tasks.stuck").gauge(),
                            gauge -> gauge != null && gauge.value() == 1);
            release.countDown();
            held.join();
        });
    }

    @Test
    void statementsOfStoppedCallsAreCountedWithThePropertyOnly() {
        runner.run(context -> assertThat(context.getBean(MeterRegistry.class)
                        .find("virtual.thread.statements.cancelled")
                        .counters())
                .isEmpty());
        runner.withPropertyValues("virtual-thread.jdbc.cancel-statements=true").run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(statements(registry))
                    .isEqualTo(Map.of("cancelled", 0, "completed", 0, "refused", 0, "interrupted", 0, "aborted", 0));

            context.getBean(VirtualThreads.class)
                    .submit("db", () -> {
                        StoppableBody body = Calls.currentBody();
                        body.statementEnded(StatementOutcome.CANCELLED);
                        body.statementEnded(StatementOutcome.CANCELLED);
                        body.statementEnded(StatementOutcome.ABORTED);
                        return "";
                    })
                    .join();

            assertThat(statements(registry))
                    .isEqualTo(Map.of("cancelled", 2, "completed", 0, "refused", 0, "interrupted", 0, "aborted", 1));
        });
    }

    private static Map<String, Integer> statements(MeterRegistry registry) {
        return registry.get("virtual.thread.statements.cancelled").counters().stream()
                .collect(Collectors.toMap(
                        counter -> String.valueOf(counter.getId().getTag("outcome")),
                        counter -> (int) counter.count()));
    }

    /** The listener is made by the first call, after the start. */
    @Test
    void statementsAreCountedWhereAllBeansAreLazy() {
        runner.withPropertyValues("virtual-thread.jdbc.cancel-statements=yes")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> {
                    context.getBean(VirtualThreads.class)
                            .submit("db", () -> {
                                Calls.currentBody().statementEnded(StatementOutcome.REFUSED);
                                return "";
                            })
                            .join();

                    assertThat(statements(context.getBean(MeterRegistry.class))).containsEntry("refused", 1);
                });
    }

    @Test
    void aCallDuringTheStartIsCountedOnceTheRegistryIsThere() {
        runner.withBean(Warmer.class).run(context -> {
            assertThat(figures(context).count("submitted", "method", "Prices.price", "limit", "db"))
                    .isEqualTo(1);
        });
    }

    @Test
    void aRegistryThatIsMadeLastAndLazilyIsFound() {
        withoutRegistry.withUserConfiguration(LazyRegistry.class).run(context -> {
            context.getBean(Prices.class).price().join();

            assertThat(figures(context).count("submitted")).isEqualTo(1);
        });
    }

    @Test
    void lazyBeansHaveMetersFromTheStart() {
        runner.withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context ->
                        assertThat(figures(context).value("limit.permits")).isEqualTo(2));
    }

    @Test
    void aContextThatIsStoppedAndStartedGoesOnWithItsMeters() {
        runner.run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(Prices.class).price().join();
            int before = registry.getMeters().size();

            context.stop();
            context.start();
            context.getBean(Prices.class).price().join();

            assertThat(registry.getMeters()).hasSize(before);
            assertThat(figures(context).count("submitted")).isEqualTo(2);
        });
    }

    @Test
    void twoRegistriesThatSpringBootJoinsBothHaveTheMeters() {
        runner.withBean("first", SimpleMeterRegistry.class)
                .withBean("second", SimpleMeterRegistry.class)
                .run(context -> {
                    context.getBean(Prices.class).price().join();

                    assertThat(Set.of("first", "second")).allSatisfy(name -> assertThat(
                                    new Figures(context.getBean(name, MeterRegistry.class)).count("submitted"))
                            .isEqualTo(1));
                });
    }

    @Test
    void theEngineOfTheApplicationsOwnAnnotationHasMetersToo() {
        runner.withUserConfiguration(Own.class).run(context -> {
            context.getBean(Prices.class).price().join();

            assertThat(figures(context).count("submitted")).isEqualTo(1);
        });
    }

    @Test
    void aClosedContextLeavesNothingInARegistryOfOthers() {
        MeterRegistry others = new SimpleMeterRegistry();
        withoutRegistry.withBean(MeterRegistry.class, () -> others).run(context -> {
            context.getBean(Prices.class).price().join();
            assertThat(others.getMeters()).isNotEmpty();
        });

        assertThat(others.getMeters()).isEmpty();
    }

    @Test
    void aChildContextUsesTheMetersOfItsParentThoughItSpellsTheLimitInAnotherWay() {
        runner.run(parent -> withoutRegistry
                .withParent(parent)
                .withBean(Reports.class)
                .run(child -> {
                    child.getBean(Reports.class).build().join();

                    assertThat(child.getBeanFactory().getBeanNamesForType(TaskMeters.class))
                            .isEmpty();
                    assertThat(parent.getBean(TaskLimits.class).names()).containsExactly("db");
                    assertThat(figures(parent).count("submitted", "method", "Reports.build", "limit", "db"))
                            .isEqualTo(1);
                }));
    }

    @Test
    void theMetersCanBeSwitchedOff() {
        runner.withPropertyValues("management.metrics.enable.virtual.thread=false")
                .run(context -> {
                    context.getBean(Prices.class).price().join();

                    assertThat(context.getBean(MeterRegistry.class).getMeters())
                            .noneMatch(meter -> meter.getId().getName().startsWith("virtual.thread"));
                });
    }

    @Test
    void theListenerIsFoundBesideThoseOfTheApplication() {
        runner.withBean("own", TaskListener.class, () -> new TaskListener() {})
                .run(context -> assertThat(context.getBeansOfType(TaskListener.class))
                        .containsKeys("own", "virtualThreadCallMeters"));
    }

    private static Figures figures(BeanFactory context) {
        return new Figures(context.getBean(MeterRegistry.class));
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Integer> price() {
            return CompletableFuture.completedFuture(7);
        }
    }

    static class Reports {

        @VirtualThread("D-B")
        public CompletableFuture<Integer> build() {
            return CompletableFuture.completedFuture(7);
        }
    }

    /** Makes a call before the registry exists. */
    static class Warmer {

        private final Prices prices;

        Warmer(Prices prices) {
            this.prices = prices;
        }

        @PostConstruct
        void warm() {
            prices.price().join();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyRegistry {

        @Bean
        @Lazy
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Own {}
}
