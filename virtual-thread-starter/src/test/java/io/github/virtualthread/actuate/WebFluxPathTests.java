package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadActuatorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

/** What docs/endpoint.md says of WebFlux, which does not say what was in the path. */
@Timeout(300)
class WebFluxPathTests {

    @Test
    void aParameterReplacesTheLimitInThePath() {
        new ReactiveWebApplicationContextRunner()
                .withInitializer(EndpointApplication::readAsAnApplication)
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadActuatorAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        WebEndpointAutoConfiguration.class,
                        ManagementContextAutoConfiguration.class,
                        ReactiveManagementContextAutoConfiguration.class,
                        JacksonAutoConfiguration.class,
                        CodecsAutoConfiguration.class,
                        WebFluxAutoConfiguration.class))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=1",
                        "virtual-thread.limits.report.permits=1",
                        "management.endpoints.web.exposure.include=virtualthreads",
                        "management.endpoint.virtualthreads.access=unrestricted")
                .run(context -> {
                    WebTestClient.bindToApplicationContext(context)
                            .configureClient()
                            .responseTimeout(Duration.ofMinutes(2))
                            .build()
                            .post()
                            .uri(EndpointApplication.PATH + "/db")
                            .contentType(MediaType.APPLICATION_JSON)
                            .bodyValue("{\"permits\": 5, \"limitInPath\": \"report\"}")
                            .exchange()
                            .expectStatus()
                            .isOk();

                    TaskLimits limits = context.getBean(TaskLimits.class);
                    assertThat(limits.get("report").permits()).isEqualTo(5);
                    assertThat(limits.get("db").permits()).isEqualTo(1);
                });
    }
}
