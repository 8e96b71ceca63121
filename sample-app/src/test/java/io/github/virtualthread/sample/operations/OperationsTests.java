package io.github.virtualthread.sample.operations;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.sample.SampleTest;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

/** What an operator of the sample sees and can do, on the Spring Boot that the sample runs on. */
@SampleTest
@TestPropertySource(
        properties = {
            "virtual-thread.health.saturated-after=1ns",
            "virtual-thread.limits.partner.permits=1",
            "management.endpoint.health.probes.enabled=true",
            "management.endpoint.health.show-details=always"
        })
class OperationsTests {

    private final CountDownLatch callRuns = new CountDownLatch(1);
    private final CountDownLatch callEnds = new CountDownLatch(1);

    @Autowired
    private RestTestClient client;

    @AfterEach
    void endCall() {
        callEnds.countDown();
    }

    @Test
    void showsEveryLimitAndMethod() {
        get("/actuator/virtualthreads")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.limits[?(@.name == 'db')].permitsFrom.bean")
                .isEqualTo("dataSource")
                .jsonPath("$.limits[?(@.name == 'partner')].permits")
                .isEqualTo(1)
                .jsonPath("$.methods[?(@.name == 'VirtualParts.price')].limit")
                .isEqualTo("db");
    }

    @Test
    void changesALimit() {
        client.post()
                .uri("/actuator/virtualthreads/db")
                .contentType(MediaType.APPLICATION_JSON)
                .body(Map.of("queueCapacity", "1000"))
                .exchange()
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.queueCapacity")
                .isEqualTo(1000);
    }

    @Test
    void hasEveryLimitInItsMetrics() {
        String metrics = get("/actuator/prometheus")
                .expectStatus()
                .isOk()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();

        assertThat(metrics)
                .contains("virtual_thread_limit_permits{application=\"sample\",limit=\"db\"} 20.0")
                .contains("virtual_thread_limit_permits{application=\"sample\",limit=\"partner\"} 1.0");
    }

    @Test
    void dumpsVirtualThreads() {
        String dump = get("/actuator/virtualthreaddump")
                .expectStatus()
                .isOk()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();

        assertThat(dump).contains("\"threadDump\"").contains("tomcat-handler-");
    }

    @Test
    void isOutOfServiceButReadyWhileALimitIsFull(@Autowired VirtualThreads threads) throws Exception {
        get("/actuator/health/virtualThreads").expectStatus().isOk();
        CompletableFuture<Boolean> held = threads.submit("partner", () -> {
            callRuns.countDown();
            return callEnds.await(120, SECONDS);
        });
        assertThat(callRuns.await(120, SECONDS)).isTrue();
        CompletableFuture<String> waiting = threads.submit("partner", () -> "served");

        get("/actuator/health/virtualThreads")
                .expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectBody()
                .jsonPath("$.status")
                .isEqualTo("OUT_OF_SERVICE")
                .jsonPath("$.details.partner")
                .value(String.class, text -> assertThat(text).contains("0 of 1 permit free, 1 waiting"));
        get("/actuator/health").expectStatus().isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
        get("/actuator/health/readiness").expectStatus().isOk();
        get("/actuator/health/liveness").expectStatus().isOk();

        callEnds.countDown();
        assertThat(held).succeedsWithin(120, SECONDS);
        assertThat(waiting).succeedsWithin(120, SECONDS);
        get("/actuator/health/virtualThreads").expectStatus().isOk();
    }

    private RestTestClient.ResponseSpec get(String uri) {
        return client.get().uri(uri).exchange();
    }
}
