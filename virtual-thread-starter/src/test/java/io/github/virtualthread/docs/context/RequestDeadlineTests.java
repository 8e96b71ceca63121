package io.github.virtualthread.docs.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What the page says of the deadline in Reactor; Spring Boot's property sets the same hook. */
@Timeout(300)
class RequestDeadlineTests {

    private final Shop shop = new Shop();
    private final WebTestClient client = WebTestClient.bindToController(shop)
            .webFilter(new RequestDeadline())
            .configureClient()
            .responseTimeout(Duration.ofMinutes(2))
            .build();

    @AfterEach
    void disable() {
        Hooks.disableAutomaticContextPropagation();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/method", "/function", "/elastic", "/handle"})
    void everyFunctionSeesTheDeadlineOfItsRequestWithAutomaticPropagation(String uri) {
        Hooks.enableAutomaticContextPropagation();

        assertThat(seen(uri)).isEqualTo("in time");
        assertThat(Deadline.remaining()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/method", "/function", "/elastic"})
    void otherwiseOnlyHandleDoes(String uri) {
        assertThat(seen(uri)).isEqualTo("no deadline");
        assertThat(seen("/handle")).isEqualTo("in time");
    }

    @Test
    void workThatIsGivenToASchedulerHasItEvenAfterTheAnswer() throws Exception {
        Hooks.enableAutomaticContextPropagation();

        assertThat(seen("/work")).isEqualTo("in time");
        shop.answered.complete(null);

        assertThat(shop.work.get(2, TimeUnit.MINUTES)).isEqualTo("in time, without: no deadline");
    }

    private String seen(String uri) {
        return client.get()
                .uri(uri)
                .exchange()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
    }

    @RestController
    static class Shop {

        final CompletableFuture<Void> answered = new CompletableFuture<>();
        final CompletableFuture<String> work = new CompletableFuture<>();

        @GetMapping("/method")
        String method() {
            return left();
        }

        @GetMapping("/function")
        Mono<String> function() {
            return Mono.delay(Duration.ofMillis(1)).map(tick -> left());
        }

        @GetMapping("/elastic")
        Mono<String> elastic() {
            return Mono.fromCallable(Shop::left).subscribeOn(Schedulers.boundedElastic());
        }

        @GetMapping("/handle")
        Mono<String> handle() {
            return Mono.delay(Duration.ofMillis(1)).handle((tick, sink) -> sink.next(left()));
        }

        @GetMapping("/work")
        String work() {
            Schedulers.boundedElastic().schedule(() -> {
                answered.orTimeout(2, TimeUnit.MINUTES).join();
                try {
                    work.complete(left() + ", without: " + Deadline.callWithout(Shop::left));
                } catch (Exception failure) {
                    work.completeExceptionally(failure);
                }
            });
            return left();
        }

        private static String left() {
            Optional<Duration> left = Deadline.remaining();
            return left.isPresent() ? "in time" : "no deadline";
        }
    }
}
