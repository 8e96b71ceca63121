package com.acme.shop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Blocking handlers of WebFlux and of GraphQL under one limit, by a property alone. */
@Timeout(300)
@TestInstance(Lifecycle.PER_CLASS)
class CommonLimitTests {

    private static final int PERMITS = 2;
    private static final int CALLS = 6;

    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext shop;
    private Desk desk;

    @BeforeAll
    void start() {
        shop = SpringApplication.run(new Class<?>[] {ShopApplication.class, Desk.class}, new String[] {
            "--virtual-thread.limits.common.permits=" + PERMITS,
            "--virtual-thread.limits.common.queue-capacity=" + (CALLS - PERMITS),
            "--virtual-thread.async.executors.applicationTaskExecutor=common",
            "--spring.threads.virtual.enabled=true", // otherwise GraphQL gives it nothing
            "--spring.graphql.schema.locations=classpath:block/"
        });
        desk = shop.getBean(Desk.class);
    }

    @AfterAll
    void stop() {
        http.close();
        shop.close();
    }

    @Test
    void blockingHandlersOfWebFluxAreUnderTheLimit() throws Exception {
        areUnderTheLimit(number -> request("/block?number=" + number));
    }

    @Test
    void handlersOfGraphQlAreUnderTheLimit() throws Exception {
        areUnderTheLimit(number -> request("/graphql")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"query\": \"{ block(number: %d) }\"}".formatted(number))));
    }

    private void areUnderTheLimit(IntFunction<HttpRequest.Builder> request) throws Exception {
        TaskLimit limit = shop.getBean(TaskLimits.class).get("common");
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        try (Calls calls = desk.expect(CALLS)) {
            for (int number = 0; number < CALLS; number++) {
                HttpRequest user =
                        request.apply(number).header("User", "user " + number).build();
                answers.add(http.sendAsync(user, BodyHandlers.ofString()));
                // not before: the next body could overtake this one
                while (limit.inUse() + limit.waiting() <= number) {
                    LockSupport.parkNanos(MILLISECONDS.toNanos(1));
                }
            }
            assertThat(Stream.of(calls.next(), calls.next())).containsExactlyInAnyOrder(0, 1);

            // the one event loop answers, and nothing else has begun
            assertThat(send(request("/free")).body()).isEqualTo("free");
            assertThat(calls.begun).isEmpty();
            assertThat(limit.inUse()).isEqualTo(PERMITS);
            assertThat(limit.waiting()).isEqualTo(CALLS - PERMITS);
            assertThat(send(request("/block?number=" + CALLS)).statusCode()).isEqualTo(503);

            for (int number = 0; number < CALLS; number++) {
                calls.gates.get(number).countDown();
                if (number + PERMITS < CALLS) {
                    assertThat(calls.next()).isEqualTo(number + PERMITS);
                }
                assertThat(answers.get(number).get(2, MINUTES).body())
                        .contains("%d on vt-applicationTaskExecutor-".formatted(number))
                        .contains("for user " + number);
            }
        }
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        String port = shop.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .timeout(Duration.ofMinutes(3));
    }

    /** Its handlers block until the test opens their gates. */
    @RestController
    static class Desk {

        private volatile Calls calls = new Calls(0);

        Calls expect(int number) {
            calls = new Calls(number);
            return calls;
        }

        @GetMapping("/block")
        @QueryMapping
        String block(@RequestParam @Argument int number) throws InterruptedException {
            calls.begin(number);
            return "%d on %s for %s".formatted(number, Thread.currentThread().getName(), MDC.get("user"));
        }

        @GetMapping("/free")
        Mono<String> free() {
            return Mono.just("free");
        }

        @Bean
        WebFilter user() {
            return (exchange, chain) -> Mono.defer(() -> {
                String user = exchange.getRequest().getHeaders().getFirst("User");
                if (user != null) {
                    MDC.put("user", user);
                }
                return chain.filter(exchange);
            });
        }
    }

    /** Those of one test, each with a gate. */
    static class Calls implements AutoCloseable {

        final BlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
        final List<CountDownLatch> gates;

        Calls(int number) {
            gates = Stream.generate(() -> new CountDownLatch(1)).limit(number).toList();
        }

        void begin(int number) throws InterruptedException {
            begun.add(number);
            assertThat(gates.get(number).await(2, MINUTES)).isTrue();
        }

        Integer next() throws InterruptedException {
            return begun.poll(2, MINUTES);
        }

        @Override
        public void close() {
            gates.forEach(CountDownLatch::countDown);
        }
    }
}
