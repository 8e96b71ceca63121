package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The limit at the door, in an application on Tomcat: what waits, what is rejected, and with what it goes together. */
@Timeout(300)
class DoorTests {

    @Test
    void aRequestThatDoesNotFitIsAnswered503WithRetryAfterAndWithoutABody() {
        DoorApplication.run(Holding.class, it -> {
            Holding holding = it.bean(Holding.class);
            List<CompletableFuture<HttpResponse<String>>> served = List.of(it.ask("/hold/a"), it.ask("/hold/b"));
            holding.awaitBegun("a", "b");
            List<CompletableFuture<HttpResponse<String>>> waiting = List.of(it.ask("/plain"), it.ask("/plain"));
            it.awaitWaiting(2);

            HttpResponse<String> rejected = it.get("/hold/c");

            assertThat(rejected.statusCode()).isEqualTo(503);
            assertThat(rejected.headers().allValues("Retry-After")).containsExactly("1");
            assertThat(rejected.headers().allValues("Content-Length")).containsExactly("0");
            assertThat(rejected.body()).isEmpty();
            holding.release("a", "b");
            assertThat(served)
                    .allSatisfy(answer ->
                            assertThat(answer.get(2, MINUTES).statusCode()).isEqualTo(200));
            assertThat(waiting)
                    .allSatisfy(answer ->
                            assertThat(answer.get(2, MINUTES).statusCode()).isEqualTo(200));
            it.awaitFree();
            assertThat(holding.begun()).containsExactlyInAnyOrder("a", "b");
        });
    }

    @ParameterizedTest
    @CsvSource({"429, 1500ms, 429, 2", "none, 0s, 503,", "599, 3s, 599, 3"})
    void statusAndHeaderAreThoseOfAllRejections(String status, String retryAfter, int answered, String header) {
        DoorApplication.run(
                Holding.class,
                it -> {
                    try (Occupation full = it.limit().occupy()) {
                        HttpResponse<String> rejected = it.get("/plain");

                        assertThat(rejected.statusCode()).isEqualTo(answered);
                        assertThat(rejected.headers().firstValue("Retry-After").orElse(null))
                                .isEqualTo(header);
                    }
                },
                "limits.web.queue-capacity=0",
                "web.rejected-status=" + status,
                "web.retry-after=" + retryAfter);
    }

    @ParameterizedTest
    @CsvSource({"503, true", "429, false"})
    void tomcatClosesTheConnectionAfterA503Only(int status, boolean closes) {
        DoorApplication.run(
                Holding.class,
                it -> {
                    try (Occupation full = it.limit().occupy()) {
                        assertThat(it.get("/plain")).satisfies(answer -> {
                            assertThat(answer.statusCode()).isEqualTo(status);
                            assertThat(answer.headers().allValues("Connection").contains("close"))
                                    .isEqualTo(closes);
                        });
                    }
                },
                "limits.web.queue-capacity=0",
                "web.rejected-status=" + status);
    }

    @Test
    void aRejectionOfAControllersCallIsNotAnsweredAtTheDoor() {
        DoorApplication.run(
                Rejecting.class,
                it -> {
                    HttpResponse<String> answer = it.get("/rejected");

                    assertThat(answer.statusCode()).isEqualTo(500);
                    assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
                    it.awaitFree();
                },
                "web.rejected-status=none");
    }

    @Test
    void aGracefulStopServesRequestsThatWait() {
        DoorApplication.RUNNER
                .withUserConfiguration(Holding.class)
                .withPropertyValues("server.shutdown=graceful", "virtual-thread.limits.web.permits=1")
                .run(context -> {
                    DoorApplication it = new DoorApplication(context);
                    Holding holding = context.getBean(Holding.class);
                    CompletableFuture<HttpResponse<String>> first = it.ask("/hold/a");
                    holding.awaitBegun("a");
                    CompletableFuture<HttpResponse<String>> second = it.ask("/hold/b");
                    it.awaitWaiting(1);
                    ConfigurableApplicationContext started =
                            (ConfigurableApplicationContext) context.getSourceApplicationContext();

                    Thread stop = Thread.ofPlatform().start(started::stop);
                    await().atMost(Duration.ofMinutes(2)).until(() -> it.port() == -1);
                    holding.release("a", "b");

                    assertThat(first.get(2, MINUTES).body()).isEqualTo("a");
                    assertThat(second.get(2, MINUTES).body()).isEqualTo("b");
                    assertThat(stop.join(Duration.ofMinutes(2))).isTrue();
                    assertThat(it.limit().inUse()).isZero();
                });
    }

    @RestController
    static class Rejecting {

        @GetMapping("/rejected")
        String rejected() {
            throw new LimitExceededException("Prices.find", null, Reason.SHUTDOWN);
        }
    }
}
