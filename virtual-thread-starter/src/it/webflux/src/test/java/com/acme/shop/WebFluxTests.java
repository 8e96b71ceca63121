package com.acme.shop;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application of WebFlux, without Spring MVC; its limit has one permit and no queue. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WebFluxTests {

    @Test
    void itRunsOnTheSpringBootAndTheJavaThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"));
        String java = System.getProperty("expected.java");
        if (java == null || java.isBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
        } else {
            assertThat(Runtime.version().feature()).hasToString(java);
        }
        assertThat(VirtualThread.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith(".jar");
    }

    @Test
    void aMethodOfAControllerRunsOnAVirtualThreadAndARejectionIsAnswered503(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class)) {
            HttpResponse<String> rejected = whileThePermitIsHeld(shop);

            assertThat(rejected.statusCode()).isEqualTo(503);
            assertThat(rejected.headers().firstValue("Retry-After")).contains("1");
            assertThat(rejected.body()).isEmpty();
            assertThat(output).doesNotContain("LimitExceededException");

            HttpResponse<String> answer = get(shop, "/price");
            assertThat(answer.body()).startsWith("7 on vt-ShopApplication.price-");
            assertThat(answer.statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aCallThatTakesTooLongIsAnswered503(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class)) {
            HttpResponse<String> answer = get(shop, "/late");

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
            assertThat(answer.body()).isEmpty();
            assertThat(output).doesNotContain("CallTimeoutException");
        }
    }

    /** By Spring itself, which cancels the future: the starter has no property for it here. */
    @Test
    void theBodyIsInterruptedIfItsClientGoes() throws Exception {
        try (ConfigurableApplicationContext shop = SpringApplication.run(
                new Class<?>[] {ShopApplication.class, Moments.class, Desk.class}, new String[0])) {
            Moments moments = shop.getBean(Moments.class);
            String port = shop.getEnvironment().getRequiredProperty("local.server.port");
            try (Socket client = new Socket("localhost", Integer.parseInt(port))) {
                client.getOutputStream().write("GET /slow HTTP/1.1\r\nHost: shop\r\n\r\n".getBytes(US_ASCII));
                assertThat(moments.begun.await(2, TimeUnit.MINUTES)).isTrue();
                assertThat(moments.interrupted.getCount()).isOne();
            }

            assertThat(moments.interrupted.await(2, TimeUnit.MINUTES)).isTrue();
        }
    }

    static class Moments {

        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch interrupted = new CountDownLatch(1);
    }

    @RestController
    static class Desk {

        private final Moments moments;

        Desk(Moments moments) {
            this.moments = moments;
        }

        @VirtualThread
        @GetMapping("/slow")
        public CompletableFuture<String> slow() throws InterruptedException {
            moments.begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException interruption) {
                moments.interrupted.countDown();
                throw interruption;
            }
            return CompletableFuture.completedFuture("never");
        }
    }

    @Test
    void aRejectionHasAProblemDetailWhereTheseAreOn() throws Exception {
        try (ConfigurableApplicationContext shop =
                SpringApplication.run(ShopApplication.class, "--spring.webflux.problemdetails.enabled=true")) {
            HttpResponse<String> rejected = whileThePermitIsHeld(shop);

            assertThat(rejected.statusCode()).isEqualTo(503);
            assertThat(rejected.headers().firstValue("Retry-After")).contains("1");
            assertThat(rejected.headers().firstValue("Content-Type")).contains("application/problem+json");
            assertThat(rejected.body()).contains("\"detail\":\"The request cannot be served now. Try again in 1 s.\"");
        }
    }

    private static HttpResponse<String> whileThePermitIsHeld(ConfigurableApplicationContext shop) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Boolean> held = shop.getBean(VirtualThreads.class).submit("db", () -> {
            started.countDown();
            return gate.await(2, TimeUnit.MINUTES);
        });
        assertThat(started.await(2, TimeUnit.MINUTES)).isTrue();
        try {
            return get(shop, "/price");
        } finally {
            gate.countDown();
            assertThat(held).succeedsWithin(Duration.ofMinutes(2));
        }
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext shop, String path)
            throws IOException, InterruptedException {
        String port = shop.getEnvironment().getRequiredProperty("local.server.port");
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                            .timeout(Duration.ofMinutes(2))
                            .build(),
                    BodyHandlers.ofString());
        }
    }
}
