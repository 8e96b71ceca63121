package io.github.virtualthread.sample.lab.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
class LabControllerTests {

    private static final Map<String, String> SHORT = Map.of("tasks", "10", "millis", "10", "rounds", "1");
    private static final Map<String, String> LONG = Map.of("tasks", "100", "millis", "5000", "rounds", "10");

    @Autowired
    private RestTestClient client;

    @LocalServerPort
    private int port;

    @Test
    void everyExperimentIsListedWithItsCodeAndParameters() {
        client.get()
                .uri("/lab/experiments")
                .exchange()
                .expectBody()
                .jsonPath("$[0].id")
                .isEqualTo("pool-or-virtual")
                .jsonPath("$[0].code")
                .value(code -> assertThat((String) code)
                        .startsWith("@Async\nCompletableFuture")
                        .contains("@VirtualThread"))
                .jsonPath("$[0].parameters[0].name")
                .isEqualTo("tasks");
    }

    @Test
    void aRunTellsItsProgressAndItsAnswer() throws Exception {
        List<String> events = events(start(SHORT));

        assertThat(events)
                .contains("event:progress", "event:begin", "event:point")
                .contains("event:answer");
        assertThat(events.getLast()).contains("\"sentence\":\"10 tasks of 10 ms took ");
    }

    @Test
    void aCancelledRunSaysSo() throws Exception {
        int run = start(LONG);
        client.delete().uri("/lab/runs/{run}", run).exchange().expectStatus().isNoContent();

        assertThat(events(run).getLast()).contains("\"how\":\"cancelled\"");
    }

    @Test
    void aValueOutOfBoundsIsABadRequest() {
        post("pool-or-virtual", Map.of("tasks", "100001"))
                .expectStatus()
                .isBadRequest()
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("'Tasks' must be a whole number from 1 to 100,000, was '100001'");
    }

    @Test
    void whatThereIsNotIsNotFound() {
        post("no-such", Map.of()).expectStatus().isNotFound();
        client.get().uri("/lab/runs/99/events").exchange().expectStatus().isNotFound();
        client.delete().uri("/lab/runs/99").exchange().expectStatus().isNotFound();
    }

    @Test
    void aSecondExperimentIsToldToWait() {
        int running = start(LONG);

        post("pool-or-virtual", SHORT)
                .expectStatus()
                .isEqualTo(HttpStatus.CONFLICT)
                .expectBody()
                .jsonPath("$.detail")
                .value(detail -> assertThat((String) detail).startsWith("'Pool or virtual threads' runs. Wait"))
                .jsonPath("$.run")
                .isEqualTo(running);
    }

    @Test
    void whoComesLaterIsToldOfTheRunningOne() {
        client.get().uri("/lab/runs/running").exchange().expectStatus().isNoContent();
        int running = start(LONG);

        client.get()
                .uri("/lab/runs/running")
                .exchange()
                .expectBody()
                .jsonPath("$.run")
                .isEqualTo(running)
                .jsonPath("$.experiment")
                .isEqualTo("pool-or-virtual")
                .jsonPath("$.settings.millis")
                .isEqualTo(5000);
    }

    @Test
    void thePanelTellsOfLimitsAndTheJvm() throws Exception {
        try (BufferedReader stream = open("/lab/live")) {
            List<String> lines = stream.lines().limit(2).toList();

            assertThat(lines.getFirst()).isEqualTo("event:live");
            assertThat(lines.getLast())
                    .contains("\"name\":\"partner\",\"permits\":10,\"inUse\":0,\"waiting\":0,\"oldestWaitingMillis\":0")
                    .containsPattern("\"platformThreads\":[1-9]")
                    .containsPattern("\"heapMegabytes\":[1-9]");
        }
    }

    private int start(Map<String, String> chosen) {
        Map<?, ?> started = post("pool-or-virtual", chosen)
                .expectStatus()
                .isAccepted()
                .expectBody(Map.class)
                .returnResult()
                .getResponseBody();
        return (int) started.get("run");
    }

    private RestTestClient.ResponseSpec post(String experiment, Map<String, String> chosen) {
        return client.post()
                .uri("/lab/experiments/{id}/runs", experiment)
                .contentType(MediaType.APPLICATION_JSON)
                .body(chosen)
                .exchange();
    }

    /** All lines until the server closes the stream. */
    private List<String> events(int run) throws Exception {
        try (BufferedReader stream = open("/lab/runs/" + run + "/events")) {
            return stream.lines().filter(line -> !line.isEmpty()).toList();
        }
    }

    private BufferedReader open(String path) throws Exception {
        return new BufferedReader(new InputStreamReader(
                URI.create("http://localhost:" + port + path).toURL().openStream(), StandardCharsets.UTF_8));
    }
}
