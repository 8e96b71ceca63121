package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
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
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Controllers of WebFlux; limit full has one permit and no queue. */
@Timeout(30)
@ExtendWith(OutputCaptureExtension.class)
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "spring.main.web-application-type=reactive")
@Import(WebFluxTests.Prices.class)
class WebFluxTests {

    @Autowired
    VirtualThreads threads;

    @Value("${local.server.port}")
    int port;

    @Test
    void theMethodRunsOnAVirtualThreadAndItsValueIsTheAnswer(@Autowired ApplicationContext context) throws Exception {
        HttpResponse<String> answer = get();

        assertThat(answer.body()).startsWith("vt-Prices.price-");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(context.containsBean("webHandler"))
                .as("it is WebFlux that answers")
                .isTrue();
    }

    @Test
    void aRejectionIsAnsweredWith503AndTheLogStaysQuiet(CapturedOutput output) throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            HttpResponse<String> answer = get();

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.body()).isEmpty();
            assertThat(output).doesNotContain("LimitExceededException");
        }
        assertThat(get().statusCode()).isEqualTo(200);
    }

    private HttpResponse<String> get() throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/price"))
                            .timeout(Duration.ofSeconds(10))
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    @RestController
    static class Prices {

        @VirtualThread("full")
        @GetMapping("/price")
        public CompletableFuture<String> price() {
            return completedFuture(Thread.currentThread().getName());
        }
    }
}
