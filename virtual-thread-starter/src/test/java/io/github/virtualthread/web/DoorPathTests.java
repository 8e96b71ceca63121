package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadActuatorAutoConfiguration;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Which requests pass the door: while its only permit is held they are answered, and others are not. */
@Timeout(300)
@Tag("slow")
class DoorPathTests {

    private static final WebApplicationContextRunner RUNNER = DoorApplication.RUNNER
            .withUserConfiguration(Holding.class)
            .withPropertyValues("virtual-thread.limits.web.permits=1", "virtual-thread.limits.web.queue-capacity=0");

    private static final WebApplicationContextRunner WITH_ACTUATOR = RUNNER.withConfiguration(AutoConfigurations.of(
                    ApplicationAvailabilityAutoConfiguration.class,
                    AvailabilityHealthContributorAutoConfiguration.class,
                    AvailabilityProbesAutoConfiguration.class,
                    EndpointAutoConfiguration.class,
                    HealthContributorAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class,
                    JacksonAutoConfiguration.class,
                    JacksonEndpointAutoConfiguration.class,
                    ManagementContextAutoConfiguration.class,
                    ServletManagementContextAutoConfiguration.class,
                    VirtualThreadActuatorAutoConfiguration.class,
                    WebEndpointAutoConfiguration.class))
            .withPropertyValues("management.endpoints.web.exposure.include=*");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/pl*, /events/**   | /plain          | 200",
                "/pl*, /events/**   | /events         | 404",
                "/pl*, /events/**   | /events/a/b?c=d | 404",
                "/pl*, /events/**   | /eventsource    | 503",
                "plain              | /plain          | 200",
                "/{any}/plain       | /plain          | 503",
                "/a b/c             | /a%20b/c        | 404",
                "''                 | /plain          | 503"
            })
    void excludedPathsPass(String exclude, String path, int status) {
        whileThePermitIsHeld(RUNNER.withPropertyValues("virtual-thread.web.exclude=" + exclude), "", it -> assertThat(
                        it.get(path).statusCode())
                .isEqualTo(status));
    }

    @Test
    void patternsBeginBehindTheContextPathAndBeforeThatOfTheServlet() {
        whileThePermitIsHeld(
                RUNNER.withPropertyValues(
                        "server.servlet.context-path=/shop",
                        "spring.mvc.servlet.path=/api",
                        "virtual-thread.web.exclude=/api/plain"),
                "/shop/api",
                it -> {
                    assertThat(it.get("/shop/api/plain").statusCode()).isEqualTo(200);
                    assertThat(it.get("/shop/api/other").statusCode()).isEqualTo(503);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "/actuator, 200",
        "/actuator/health, 200",
        "/actuator/health/liveness, 200",
        "/actuator/virtualthreads/web, 200",
        "/actuators, 503",
        "/health, 503",
        "/livez, 503",
        "/plain, 503"
    })
    void actuatorPasses(String path, int status) {
        whileThePermitIsHeld(
                WITH_ACTUATOR.withPropertyValues("management.endpoint.health.probes.enabled=true"),
                "",
                it -> assertThat(it.get(path).statusCode()).isEqualTo(status));
    }

    @ParameterizedTest
    @CsvSource({"/manage, /manage/health, 200", "/manage, /actuator/health, 503", "/, /health, 200", "/, /plain, 503"})
    void actuatorPassesUnderItsBasePath(String base, String path, int status) {
        whileThePermitIsHeld(
                WITH_ACTUATOR.withPropertyValues("management.endpoints.web.base-path=" + base),
                "",
                it -> assertThat(it.get(path).statusCode()).isEqualTo(status));
    }

    @Test
    void actuatorPassesBehindTheServletsPath() {
        whileThePermitIsHeld(
                WITH_ACTUATOR.withPropertyValues("server.servlet.context-path=/shop", "spring.mvc.servlet.path=/api"),
                "/shop/api",
                it -> {
                    assertThat(it.get("/shop/api/actuator/health").statusCode()).isEqualTo(200);
                    assertThat(it.get("/shop/api/plain").statusCode()).isEqualTo(503);
                });
    }

    /** What a client writes must not lead past the door to a servlet that no pattern excludes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/files/x",
                "/files/events/x",
                "/events/../files/x",
                "/events/..;/files/x",
                "/events/..;a=b/files/x",
                "/events/%2e%2e/files/x",
                "//events/../files/x",
                "/x/../%66iles/events/x",
                "/files/../events/x",
                "/events/..",
                "/files/actuator/health",
                "/actuator/../files/x",
                "/actuator/..;/files/x",
                "/actuator/%2E%2E/files/x"
            })
    void aPathThatIsReadOtherwiseThanItIsWrittenDoesNotPass(String path) {
        whileThePermitIsHeld(
                WITH_ACTUATOR
                        .withUserConfiguration(Files.class)
                        .withPropertyValues("virtual-thread.web.exclude=/events/**"),
                "",
                it -> assertThat(it.get(path).statusCode()).isEqualTo(503));
    }

    /** Actuator's patterns are looked at first, so that this is about the others. */
    @Test
    void norDoesItWithoutActuator() {
        whileThePermitIsHeld(
                RUNNER.withUserConfiguration(Files.class).withPropertyValues("virtual-thread.web.exclude=/events/**"),
                "",
                it -> assertThat(it.get("/events/../files/x").statusCode()).isEqualTo(503));
    }

    @ParameterizedTest
    @CsvSource({"//shop/files/x, 200", "/%73hop/files/x, 200", "/shop;a=b/files/x, 200", "/shop/files/%zz, 400"})
    void aStrangePathIsAnsweredAsWithoutADoor(String path, int status) {
        WITH_ACTUATOR
                .withUserConfiguration(Files.class)
                .withPropertyValues("server.servlet.context-path=/shop", "virtual-thread.web.exclude=/events/**")
                .run(context -> {
                    DoorApplication it = new DoorApplication(context);

                    assertThat(it.getRaw(path)).startsWith("HTTP/1.1 " + status);
                    it.awaitFree();
                });
    }

    @ParameterizedTest
    @CsvSource({"/files/actuator/health, 200", "/files/health, 503"})
    void actuatorPassesBehindThePathOfJersey(String path, int status) {
        whileThePermitIsHeld(
                WITH_ACTUATOR
                        .withUserConfiguration(Files.class)
                        .withPropertyValues("spring.jersey.application-path=/files"),
                "",
                it -> assertThat(it.get(path).statusCode()).isEqualTo(status));
    }

    @ParameterizedTest
    @CsvSource({"/livez, 200", "/readyz, 200", "/up, 200", "/plain, 503"})
    void healthGroupsPass(String path, int status) {
        whileThePermitIsHeld(
                WITH_ACTUATOR.withPropertyValues(
                        "management.endpoint.health.probes.enabled=true",
                        "management.endpoint.health.probes.add-additional-paths=true",
                        "management.endpoint.health.group.up.include=ping",
                        "management.endpoint.health.group.up.additional-path=server:/up"),
                "",
                it -> assertThat(it.get(path).statusCode()).isEqualTo(status));
    }

    @Test
    void actuatorOnAPortOfItsOwnHasNoDoor() {
        whileThePermitIsHeld(
                WITH_ACTUATOR.withPropertyValues(
                        "management.server.port=0",
                        "management.endpoint.health.probes.enabled=true",
                        "management.endpoint.health.probes.add-additional-paths=true"),
                "",
                it -> {
                    assertThat(it.getManagement("/actuator/health").statusCode())
                            .isEqualTo(200);
                    assertThat(it.getManagement("/actuator/virtualthreads").statusCode())
                            .isEqualTo(200);
                    assertThat(it.get("/livez").statusCode()).isEqualTo(200);
                    assertThat(it.get("/actuator/health").statusCode()).isEqualTo(503);
                    assertThat(it.limit().completed()).isZero();
                });
    }

    @Test
    void theEndpointShowsARequestThatIsAnswered() {
        whileThePermitIsHeld(WITH_ACTUATOR, "", it -> assertThat(
                        it.get("/actuator/virtualthreads/web").body())
                .contains("web-request", "running"));
    }

    private static void whileThePermitIsHeld(
            WebApplicationContextRunner runner, String servlet, DoorApplication.Requests requests) {
        runner.run(context -> {
            DoorApplication it = new DoorApplication(context);
            Holding holding = it.bean(Holding.class);
            AvailabilityChangeEvent.publish(context, LivenessState.CORRECT);
            AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
            CompletableFuture<HttpResponse<String>> holder = it.ask(servlet + "/hold/it");
            holding.awaitBegun("it");

            requests.send(it);

            holding.release("it");
            assertThat(holder.get(2, MINUTES).statusCode()).isEqualTo(200);
            it.awaitFree();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Files {

        @Bean
        ServletRegistrationBean<HttpServlet> files() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        @Override
                        protected void doGet(HttpServletRequest request, HttpServletResponse response) {}
                    },
                    "/files/*");
        }
    }
}
