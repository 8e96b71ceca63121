package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.task.TaskExecutorMetricsAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** What an application has that annotates nothing and sets nothing. */
@Timeout(300)
class UnusedStarterTests {

    private static final String[] ALWAYS = {
        "io.github.virtualthread.config.internalVirtualThreadPostProcessor",
        "io.github.virtualthread.config.internalStartupCheck",
        "virtualThreadEngineLifecycle",
        "virtualThreadPropertiesCheck",
        "virtualThreadSettings"
    };

    private static final ClassLoader WITHOUT_SPRING_CLOUD = new FilteredClassLoader(EnvironmentChangeEvent.class);

    private final ApplicationContextRunner plain =
            new ApplicationContextRunner().withClassLoader(WITHOUT_SPRING_CLOUD).withConfiguration(ours());
    private final WebApplicationContextRunner web = new WebApplicationContextRunner()
            .withClassLoader(WITHOUT_SPRING_CLOUD)
            .withConfiguration(ours())
            .withConfiguration(AutoConfigurations.of(
                    TaskExecutionAutoConfiguration.class,
                    DispatcherServletAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    WebMvcAutoConfiguration.class,
                    EndpointAutoConfiguration.class,
                    WebEndpointAutoConfiguration.class,
                    HealthContributorAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class,
                    MetricsAutoConfiguration.class,
                    CompositeMeterRegistryAutoConfiguration.class,
                    SimpleMetricsExportAutoConfiguration.class,
                    TaskExecutorMetricsAutoConfiguration.class));

    /** As Spring Boot finds them. */
    private static AutoConfigurations ours() {
        return AutoConfigurations.of(
                ImportCandidates.load(AutoConfiguration.class, UnusedStarterTests.class.getClassLoader())
                        .getCandidates()
                        .stream()
                        .filter(name -> name.startsWith("io.github.virtualthread."))
                        .map(UnusedStarterTests::type)
                        .toArray(Class<?>[]::new));
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(missing);
        }
    }

    @Test
    void itHasTheseBeans() {
        plain.run(context -> assertThat(created(context)).containsExactlyInAnyOrder(ALWAYS));
    }

    @Test
    void withWebAndActuatorItHasNoMore() {
        web.run(context -> {
            assertThat(context).hasSingleBean(MeterRegistry.class);
            assertThat(created(context)).containsExactlyInAnyOrder(ALWAYS);
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Mailer.class, Db.class})
    void whatNeedsTheEngineHasItFromTheStart(Class<?> bean) {
        plain.withUserConfiguration(bean)
                .run(context -> assertThat(created(context)).contains("virtualThreadEngine"));
    }

    @Test
    void aKeyMakesTheEngine() {
        plain.withPropertyValues("virtual-thread.stuck-after=1h")
                .run(context -> assertThat(created(context)).contains("virtualThreadEngine"));
    }

    @Test
    void anEngineThatIsNeededLaterIsMeasuredAndStopsWithTheApplication() {
        CompletableFuture<VirtualThreads> later = new CompletableFuture<>();
        web.run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            assertThat(threads.submit(() -> "late")).succeedsWithin(Duration.ofMinutes(2));
            assertThat(context.getBean(MeterRegistry.class)
                            .get("virtual.thread.submitted")
                            .counter()
                            .count())
                    .isOne();
            later.complete(threads);
        });

        assertThatThrownBy(() -> later.join().submit(() -> "too late").get()).satisfies(failure -> assertThat(
                        failure instanceof LimitExceededException ? failure : failure.getCause())
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.SHUTDOWN)));
    }

    @Test
    void aLateEngineOfAStoppedApplicationAcceptsNoCall() {
        plain.run(context -> {
            context.getSourceApplicationContext(GenericApplicationContext.class).stop();

            assertThat(context.getBean(VirtualThreads.class).submit(() -> "too late"))
                    .isCompletedExceptionally();
        });
    }

    private static List<String> created(ConfigurableApplicationContext context) {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return Stream.of(beans.getSingletonNames())
                .filter(name -> beans.getSingleton(name).getClass().getName().startsWith("io.github.virtualthread."))
                .toList();
    }

    /** Public: with another class loader its proxy is in another package. */
    public static class Mailer {

        @VirtualThread
        public CompletableFuture<String> send() {
            return CompletableFuture.completedFuture("sent");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Db {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 1);
        }
    }
}
