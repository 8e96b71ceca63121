package io.github.virtualthread.autoconfigure;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.web.WebLimitFilter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.servlet.DispatcherType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.observation.web.servlet.WebMvcObservationAutoConfiguration;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.security.SecurityProperties;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** When the limit at the door is there, and where. */
@Timeout(300)
class DoorAutoConfigurationTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            VirtualThreadAutoConfiguration.class,
            VirtualThreadDoorAutoConfiguration.class,
            VirtualThreadWebMvcAutoConfiguration.class);
    private static final String[] WEB = {
        "spring.threads.virtual.enabled=true",
        "virtual-thread.limits.web.permits=1",
        "virtual-thread.limits.web.queue-capacity=0"
    };

    private final WebApplicationContextRunner runner =
            new WebApplicationContextRunner().withConfiguration(OURS).withPropertyValues(WEB);

    private final WebApplicationContextRunner onTomcat = new WebApplicationContextRunner(
                    AnnotationConfigServletWebServerApplicationContext::new)
            .withConfiguration(OURS)
            .withConfiguration(AutoConfigurations.of(
                    DispatcherServletAutoConfiguration.class,
                    ServletWebServerFactoryAutoConfiguration.class,
                    WebMvcAutoConfiguration.class))
            .withPropertyValues(WEB)
            .withPropertyValues("server.port=0");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.application.name=shop",
                "virtual-thread.web.limit=",
                "virtual-thread.web.limit=none",
                "virtual-thread.web.deadline=",
                "virtual-thread.web.deadline-header=",
                "virtual-thread.web.cancel-abandoned=false",
                "virtual-thread.web.exclude=/events/**"
            })
    void withoutALimitAndADeadlineThereIsNothing(String property) {
        runner.withPropertyValues(property).run(withoutDoor());
    }

    @Test
    void offIsOff() {
        runner.withPropertyValues("virtual-thread.enabled=false", "virtual-thread.web.limit=web")
                .run(withoutDoor());
    }

    /** Two doors would let no request in as soon as each permit is held by one that waits for its second. */
    @ParameterizedTest
    @ValueSource(classes = {OwnFilter.class, OwnRegistration.class})
    void aFilterOfTheApplicationReplacesThatOfTheStarter(Class<?> own) {
        onTomcat.withUserConfiguration(own)
                .withPropertyValues("virtual-thread.web.limit=web")
                .run(context -> {
                    assertThat(status(context)).isEqualTo(404);
                    assertThat(context.getBean(TaskLimits.class).get("web").completed())
                            .isOne();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFilter {

        @Bean
        WebLimitFilter door(VirtualThreads threads) {
            return new WebLimitFilter(threads, "web", null);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRegistration {

        @Bean
        FilterRegistrationBean<WebLimitFilter> door(VirtualThreads threads) {
            return new FilterRegistrationBean<>(new WebLimitFilter(threads, "web", null));
        }
    }

    private static ContextConsumer<AssertableWebApplicationContext> withoutDoor() {
        return context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(FilterRegistrationBean.class)
                .doesNotHaveBean(DoorSettings.class)
                .doesNotHaveBean(ManagementPaths.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "virtual-thread.web.limit=web",
                "virtual-thread.web.limit= Web ",
                "virtual-thread.web.deadline=5s",
                "virtual-thread.web.deadline-header=X-Request-Timeout-Ms",
                "virtual-thread.web.cancel-abandoned=true"
            })
    void oneOfThemIsEnough(String property) {
        runner.withPropertyValues(property).run(context -> {
            FilterRegistrationBean<?> registration = context.getBean(FilterRegistrationBean.class);
            assertThat(registration.getFilter()).isInstanceOf(WebLimitFilter.class);
            assertThat(registration.determineDispatcherTypes())
                    .isEqualTo(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
            assertThat(registration.isAsyncSupported()).isTrue();
            assertThat(registration.getUrlPatterns()).isEmpty(); // all
        });
    }

    @Test
    void isBetweenObservationAndSecurity() {
        runner.withPropertyValues("virtual-thread.web.limit=web")
                .withConfiguration(AutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        ObservationAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        WebMvcObservationAutoConfiguration.class))
                .run(context -> assertThat(context.getBean("virtualThreadWebLimitFilter", FilterRegistrationBean.class)
                                .getOrder())
                        .isGreaterThan(context.getBean("webMvcObservationFilter", FilterRegistrationBean.class)
                                .getOrder())
                        .isLessThan(SecurityProperties.DEFAULT_FILTER_ORDER));
        runner.withPropertyValues("virtual-thread.web.limit=web", "virtual-thread.web.order=-99")
                .run(context -> assertThat(
                                context.getBean(FilterRegistrationBean.class).getOrder())
                        .isEqualTo(-99));
    }

    @Test
    void rejectedRequestsAreCountedAsRequests() {
        onTomcat.withPropertyValues("virtual-thread.web.limit=web")
                .withConfiguration(AutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        ObservationAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        WebMvcObservationAutoConfiguration.class))
                .run(context -> {
                    try (var occupied =
                            context.getBean(TaskLimits.class).get("web").occupy()) {
                        assertThat(status(context)).isEqualTo(503);
                    }
                    // the client has its answer before the observation ends
                    await().atMost(2, MINUTES).untilAsserted(() -> assertThat(context.getBean(MeterRegistry.class)
                                    .find("http.server.requests")
                                    .tag("status", "503")
                                    .timers())
                            .extracting(Timer::count)
                            .containsExactly(1L));
                });
    }

    private static int status(AssertableWebApplicationContext context) throws Exception {
        int port = ((ServletWebServerApplicationContext) context.getSourceApplicationContext())
                .getWebServer()
                .getPort();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:%d/".formatted(port)))
                .build();
        return HttpClient.newHttpClient()
                .sendAsync(request, BodyHandlers.discarding())
                .get(2, MINUTES)
                .statusCode();
    }

    @Test
    void withoutActuatorRequestsPassTheDoor() {
        onTomcat.withPropertyValues("virtual-thread.web.limit=web")
                .withClassLoader(new FilteredClassLoader(PathMappedEndpoints.class))
                .run(context -> {
                    assertThat(context).doesNotHaveBean(ManagementPaths.class);
                    assertThat(status(context)).isEqualTo(404);
                    assertThat(context.getBean(TaskLimits.class).get("web").completed())
                            .isOne();
                });
    }

    /** The server creates the filter before the start-up check. */
    @Test
    void onTomcatTooAllMistakesAreReportedTogether() {
        onTomcat.withPropertyValues(
                        "virtual-thread.web.limit=wbe",
                        "virtual-thread.web.deadline=0s",
                        "virtual-thread.web.exclude=/{",
                        "virtual-thread.web.rejected-status=200",
                        "virtual-thread.web.timed-out-status=never",
                        "virtual-thread.web.retry-after=-1s",
                        "virtual-thread.default-limit=wbe")
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(VirtualThreadConfigurationException.class)
                        .hasMessageContainingAll(
                                "web.limit asks for limit 'wbe'",
                                "web.deadline must be",
                                "web.exclude[0] must be",
                                "web.rejected-status must be",
                                "web.timed-out-status must be an HTTP status from 400 to 599 or none, was 'never'",
                                "web.retry-after must not be",
                                "default-limit asks for limit 'wbe'"));
    }

    @Test
    void onPlatformThreadsRequestsMayBeRejectedAtOnce() {
        onTomcat.withPropertyValues("spring.threads.virtual.enabled=false", "virtual-thread.web.limit=web")
                .run(context -> {
                    try (var occupied =
                            context.getBean(TaskLimits.class).get("web").occupy()) {
                        assertThat(status(context)).isEqualTo(503);
                    }
                    assertThat(status(context)).isEqualTo(404);
                });
    }

    @Test
    void anApplicationWithoutAServerHasNoDoor() {
        new ApplicationContextRunner()
                .withConfiguration(OURS)
                .withPropertyValues(
                        "virtual-thread.web.limit=nothing",
                        "virtual-thread.web.deadline=0s",
                        "virtual-thread.web.exclude=/{")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(DoorSettings.class));
    }

    @Test
    void aRefreshChangesTheLimitOfTheDoor() {
        onTomcat.withPropertyValues("virtual-thread.web.limit=web").run(context -> {
            ConfigurableApplicationContext source =
                    context.getSourceApplicationContext(AnnotationConfigServletWebServerApplicationContext.class);
            TestPropertyValues.of("virtual-thread.limits.web.permits=3").applyTo(source);
            source.publishEvent(new EnvironmentChangeEvent(source));

            assertThat(context.getBean(TaskLimits.class).get("web").permits()).isEqualTo(3);
            assertThat(status(context)).isEqualTo(404);
            assertThat(context.getBean(TaskLimits.class).get("web").completed()).isOne();
        });
    }
}
