package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The method of the controller itself runs on the virtual thread; limit full has one permit and no queue. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Import({
    ControllerTests.Prices.class,
    ControllerTests.Unavailable.class,
    ControllerTests.TooMany.class,
    ControllerTests.Unprepared.class
})
class ControllerTests {

    @Autowired
    VirtualThreads threads;

    @Value("${local.server.port}")
    int port;

    @Test
    void theMethodRunsOnAVirtualThreadAndItsValueIsTheAnswer() throws Exception {
        HttpResponse<String> answer = get("/unavailable");

        assertThat(answer.body()).startsWith("vt-Unavailable.price-");
        assertThat(answer.statusCode()).isEqualTo(200);
    }

    @Test
    void aRejectionIsAnsweredWith503() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            HttpResponse<String> answer = get("/unavailable");

            assertThat(answer.body()).isEqualTo("full is busy");
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.statusCode()).isEqualTo(503);
        }
        assertThat(get("/unavailable").statusCode()).isEqualTo(200);
    }

    @Test
    void aRejectionIsAnsweredWith429() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            HttpResponse<String> answer = get("/too-many");

            assertThat(answer.body()).isEqualTo("QUEUE_FULL");
            assertThat(answer.statusCode()).isEqualTo(429);
        }
    }

    /** Spring MVC takes the rejection out of the CompletionException that a further stage wraps it in. */
    @Test
    void aRejectionIsFoundBehindFurtherStages() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            assertThat(get("/unavailable/stages").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void withoutAHandlerTheAnswerIs503WithoutABodyAndTheLogStaysQuiet(CapturedOutput output) throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            HttpResponse<String> answer = get("/unprepared");

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.body()).isEmpty();
            assertThat(output).doesNotContain("LimitExceededException");
        }
    }

    private HttpResponse<String> get(String path) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                            .timeout(Duration.ofMinutes(2))
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    @RestController
    static class Unavailable {

        private final Prices prices;

        Unavailable(Prices prices) {
            this.prices = prices;
        }

        @VirtualThread("full")
        @GetMapping("/unavailable")
        public CompletableFuture<String> price() {
            return completedFuture(Thread.currentThread().getName());
        }

        @GetMapping("/unavailable/stages")
        public CompletableFuture<String> stages() {
            return prices.find().thenApply(price -> "costs " + price).thenApply(String::toUpperCase);
        }

        @ExceptionHandler
        public ResponseEntity<String> busy(LimitExceededException rejection) {
            return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                    .header("Retry-After", "1")
                    .body(rejection.limit() + " is busy");
        }
    }

    @RestController
    static class TooMany {

        @VirtualThread("full")
        @GetMapping("/too-many")
        public CompletableFuture<String> price() {
            return completedFuture("7");
        }

        @ExceptionHandler
        @ResponseStatus(HttpStatus.TOO_MANY_REQUESTS)
        public String busy(LimitExceededException rejection) {
            return rejection.reason().name();
        }
    }

    @RestController
    static class Unprepared {

        @VirtualThread("full")
        @GetMapping("/unprepared")
        public CompletableFuture<String> price() {
            return completedFuture("7");
        }
    }

    static class Prices {

        @VirtualThread("full")
        public CompletableFuture<Integer> find() {
            return completedFuture(7);
        }
    }
}
