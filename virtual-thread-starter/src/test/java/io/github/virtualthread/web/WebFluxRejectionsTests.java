package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.MessageSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.error.ErrorWebFluxAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableReactiveWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.reactive.error.ErrorWebExceptionHandler;
import org.springframework.context.MessageSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.reactive.server.WebTestClient.ResponseSpec;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** How WebFlux answers a request whose call was rejected, or has timed out. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WebFluxRejectionsTests {

    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadWebFluxAutoConfiguration.class,
                    CodecsAutoConfiguration.class,
                    ErrorWebFluxAutoConfiguration.class,
                    JacksonAutoConfiguration.class,
                    MessageSourceAutoConfiguration.class,
                    WebFluxAutoConfiguration.class))
            .withUserConfiguration(Shop.class)
            .withBean(Prices.class)
            .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0");

    private final ReactiveWebApplicationContextRunner withProblemDetails =
            runner.withPropertyValues("spring.webflux.problemdetails.enabled=true");

    @ParameterizedTest
    @EnumSource(
            names = {
                "ITSELF",
                "IN_COMPLETION",
                "IN_EXECUTION",
                "IN_BOTH",
                "OF_A_SUBCLASS",
                "WITHOUT_A_LEASE",
                "OF_A_KEY"
            })
    void aRejectionIsAnswered503WithRetryAfterAndWithoutABody(Rejected rejected) {
        runner.run(context -> {
            assertUnavailable(get(context, "/throws/" + rejected));
            assertUnavailable(get(context, "/future/" + rejected));
            assertUnavailable(get(context, "/mono/" + rejected));
            assertUnavailable(get(context, "/functional/" + rejected));
        });
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {
                "ITSELF",
                "IN_COMPLETION",
                "IN_EXECUTION",
                "IN_BOTH",
                "OF_A_SUBCLASS",
                "WITHOUT_A_LEASE",
                "OF_A_KEY",
                "TIMED_OUT",
                "TIMED_OUT_IN_BOTH"
            })
    void anyOtherFailureIsLeftAlone(Rejected other) {
        runner.run(context -> {
            assertFailed(get(context, "/throws/" + other));
            assertFailed(get(context, "/mono/" + other));
        });
    }

    @Test
    void aFullLimitIsAnswered503AndTheNextRequestAsEver() {
        runner.run(context -> {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<String> held = context.getBean(Prices.class).find(started, gate);
            assertThat(started.await(2, MINUTES)).isTrue();

            assertUnavailable(get(context, "/price"));

            gate.countDown();
            assertThat(held).succeedsWithin(2, MINUTES);
            get(context, "/price")
                    .expectStatus()
                    .isOk()
                    .expectBody(String.class)
                    .isEqualTo("7");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"TIMED_OUT", "TIMED_OUT_IN_BOTH"})
    void aTimeoutIsAnswered503WithoutRetryAfterAndWithoutABody(Rejected timedOut) {
        runner.run(context -> {
            for (String how : List.of("throws", "future", "mono", "functional")) {
                assertTimedOut(get(context, "/%s/%s".formatted(how, timedOut)), 503);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"future", "get", "join"})
    void aCallThatRunsTooLongIsAnswered503AndLeavesOneLine(String how, CapturedOutput output) {
        runner.run(context -> {
            try {
                assertTimedOut(get(context, "/late/" + how), 503);
            } finally {
                context.getBean(Prices.class).endLate();
            }
        });

        assertThat(output.getAll().lines().filter(line -> line.contains("timed out") || line.contains("WARN")))
                .singleElement()
                .asString()
                .contains("WARN", "Prices.late has timed out in a call: Prices.late ran longer than its timeout");
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void theStatusOfTimeoutsIsAPropertyOfItsOwn() {
        with("timed-out-status=504", "rejected-status=none").run(context -> {
            assertTimedOut(get(context, "/throws/TIMED_OUT"), 504);
            assertFailed(get(context, "/throws/ITSELF"));
        });
        with("timed-out-status=none").run(context -> {
            assertFailed(get(context, "/throws/TIMED_OUT"));
            assertUnavailable(get(context, "/throws/ITSELF"));
        });
    }

    @ParameterizedTest
    @ValueSource(
            classes = {AdviceForTimeouts.class, AdviceForAll.class, BeforeSpringBoots.class, InPlaceOfSpringBoots.class
            })
    void theApplicationsOwnHandlerOfTimeoutsComesFirst(Class<?> handler) {
        withProblemDetails.withUserConfiguration(handler).run(context -> get(context, "/future/TIMED_OUT_IN_BOTH")
                .expectStatus()
                .isEqualTo(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void statusAndHeaderAreProperties() {
        with("rejected-status=429", "retry-after=1500ms").run(context -> get(context, "/throws/ITSELF")
                .expectStatus()
                .isEqualTo(429)
                .expectHeader()
                .valueEquals(HttpHeaders.RETRY_AFTER, "2"));
        with("rejected-status=599", "retry-after=0s").run(context -> get(context, "/throws/ITSELF")
                .expectStatus()
                .isEqualTo(599)
                .expectHeader()
                .doesNotExist(HttpHeaders.RETRY_AFTER));
        with("rejected-status=none").run(context -> assertFailed(get(context, "/throws/ITSELF")));
    }

    private ReactiveWebApplicationContextRunner with(String... properties) {
        ReactiveWebApplicationContextRunner with = runner;
        for (String property : properties) {
            with = with.withPropertyValues("virtual-thread.web." + property);
        }
        return with;
    }

    @Test
    void aProblemDetailIsTheBodyWhereTheseAreOn() {
        withProblemDetails.run(context -> {
            String problem = """
                    {
                      "type": "about:blank",
                      "title": "Service Unavailable",
                      "status": 503,
                      "detail": "The request cannot be served now. Try again in 1 s.",
                      "instance": "%s"
                    }
                    """;
            for (String uri : new String[] {"/future/ITSELF", "/functional/IN_BOTH"}) {
                assertProblem(get(context, uri)).expectBody().json(problem.formatted(uri));
            }
            get(context, "/throws/TIMED_OUT")
                    .expectHeader()
                    .doesNotExist(HttpHeaders.RETRY_AFTER)
                    .expectBody()
                    .jsonPath("$.detail")
                    .isEqualTo("The request took too long.");
        });
    }

    @Test
    void theApplicationsOwnProblemDetailsAreTheBody() {
        runner.withUserConfiguration(OwnProblemDetails.class)
                .run(context -> assertProblem(get(context, "/throws/IN_BOTH")));
    }

    @Test
    void theDetailIsTranslated() {
        StaticMessageSource messages = new StaticMessageSource();
        messages.addMessage("problemDetail." + LimitExceededException.class.getName(), Locale.GERMAN, "Bitte warten.");

        withProblemDetails
                .withBean("messageSource", MessageSource.class, () -> messages)
                .run(context -> client(context)
                        .get()
                        .uri("/throws/ITSELF")
                        .header(HttpHeaders.ACCEPT_LANGUAGE, "de")
                        .exchange()
                        .expectBody()
                        .jsonPath("$.detail")
                        .isEqualTo("Bitte warten."));
    }

    @Test
    void problemDetailsOfOtherControllersLeaveNoBody() {
        runner.withUserConfiguration(ProblemDetailsOfOthers.class)
                .run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
    }

    @Test
    void aBodyThatCannotBeWrittenIsLeftOut() {
        runner.withUserConfiguration(UnwritableProblem.class)
                .run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                OwnAdvice.class,
                AdviceForAll.class,
                BeforeSpringBoots.class,
                InPlaceOfSpringBoots.class,
                InPlaceOfSpringBootsByName.class
            })
    void theApplicationsOwnHandlerComesFirst(Class<?> handler) {
        withProblemDetails.withUserConfiguration(handler).run(context -> get(context, "/future/IN_COMPLETION")
                .expectStatus()
                .isEqualTo(HttpStatus.I_AM_A_TEAPOT));
    }

    @Test
    void anAnswerThatIsOnItsWayIsLeftAlone() {
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
        exchange.getResponse().setComplete().block();

        Mono<Void> answer = new WebFluxRejections(
                        () -> List.of(new RejectionAnswer(503, Duration.ofSeconds(1))), 0, () -> null, Stream::empty)
                .handle(exchange, Rejected.ITSELF.failure);

        assertThatThrownBy(answer::block).isSameAs(Rejected.ITSELF.failure);
    }

    @Test
    void itAnswersWithoutAnyOtherHandlerToo() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadWebFluxAutoConfiguration.class,
                        WebFluxAutoConfiguration.class))
                .withUserConfiguration(Shop.class)
                .withBean(Prices.class)
                .withPropertyValues("virtual-thread.limits.db.permits=1")
                .run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
    }

    @Test
    void nothingIsThereWithoutWebFlux() {
        AutoConfigurations ours = AutoConfigurations.of(
                VirtualThreadAutoConfiguration.class, VirtualThreadWebFluxAutoConfiguration.class);
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(ours)
                .withClassLoader(new FilteredClassLoader("org.springframework.web.reactive.Dispatch"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
        new ApplicationContextRunner()
                .withConfiguration(ours)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
    }

    @Test
    void nothingIsThereWithoutTheRestOfTheStarter() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadWebFluxAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WebFluxRejections.class));
    }

    private static WebTestClient client(AssertableReactiveWebApplicationContext context) {
        return WebTestClient.bindToApplicationContext(context)
                .configureClient()
                .responseTimeout(Duration.ofMinutes(2))
                .build();
    }

    private static ResponseSpec get(AssertableReactiveWebApplicationContext context, String uri) {
        return client(context).get().uri(uri).exchange();
    }

    private static void assertUnavailable(ResponseSpec answer) {
        answer.expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .valueEquals(HttpHeaders.RETRY_AFTER, "1")
                .expectHeader()
                .doesNotExist(HttpHeaders.CONTENT_TYPE)
                .expectBody()
                .isEmpty();
    }

    private static void assertTimedOut(ResponseSpec answer, int status) {
        answer.expectStatus()
                .isEqualTo(status)
                .expectHeader()
                .doesNotExist(HttpHeaders.RETRY_AFTER)
                .expectHeader()
                .doesNotExist(HttpHeaders.CONTENT_TYPE)
                .expectBody()
                .isEmpty();
    }

    private static ResponseSpec assertProblem(ResponseSpec answer) {
        return answer.expectStatus()
                .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                .expectHeader()
                .valueEquals(HttpHeaders.RETRY_AFTER, "1")
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON);
    }

    /** By Spring Boot's own handler. */
    private static void assertFailed(ResponseSpec answer) {
        answer.expectStatus()
                .isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR)
                .expectBody()
                .jsonPath("$.error")
                .isEqualTo("Internal Server Error");
    }

    static class Prices {

        private final Semaphore late = new Semaphore(0);

        /** Does not react to the interrupt: the log comes before the end of the call, and not beside it. */
        @VirtualThread(limit = "db", timeout = "10ms")
        CompletableFuture<String> late() {
            late.acquireUninterruptibly();
            return CompletableFuture.completedFuture("too late");
        }

        void endLate() {
            late.release();
        }

        @VirtualThread("db")
        CompletableFuture<String> find(CountDownLatch started, CountDownLatch gate) throws InterruptedException {
            started.countDown();
            gate.await();
            return CompletableFuture.completedFuture("7");
        }
    }

    @RestController
    static class Shop {

        private final Prices prices;

        Shop(Prices prices) {
            this.prices = prices;
        }

        @Bean
        static RouterFunction<ServerResponse> functional() {
            return RouterFunctions.route(
                    RequestPredicates.GET("/functional/{rejected}"),
                    request -> Mono.error(Rejected.valueOf(request.pathVariable("rejected")).failure));
        }

        @GetMapping("/price")
        CompletableFuture<String> price() throws InterruptedException {
            return prices.find(OPEN, OPEN).thenApply(String::strip);
        }

        @GetMapping("/late/future")
        CompletableFuture<String> late() {
            return prices.late().thenApply(String::strip);
        }

        @GetMapping("/late/get")
        String lateGet() throws Exception {
            return prices.late().get();
        }

        @GetMapping("/late/join")
        String lateJoin() {
            return late().join();
        }

        @GetMapping("/throws/{rejected}")
        String failing(@PathVariable Rejected rejected) throws Exception {
            throw rejected.failure;
        }

        @GetMapping("/future/{rejected}")
        CompletableFuture<String> future(@PathVariable Rejected rejected) {
            return CompletableFuture.<String>failedFuture(rejected.failure).thenApply(String::strip);
        }

        @GetMapping("/mono/{rejected}")
        Mono<String> mono(@PathVariable Rejected rejected) {
            return Mono.error(rejected.failure);
        }
    }

    @RestControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler(LimitExceededException.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void busy() {}
    }

    @RestControllerAdvice
    static class AdviceForTimeouts {

        @ExceptionHandler(TimeoutException.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void late() {}
    }

    @ControllerAdvice
    static class AdviceForAll {

        @ExceptionHandler(Exception.class)
        @ResponseStatus(HttpStatus.I_AM_A_TEAPOT)
        void failed() {}
    }

    /** As Spring Boot's reference shows. */
    @Order(-2)
    static class BeforeSpringBoots implements WebExceptionHandler {

        @Override
        public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
            return teapot(exchange);
        }
    }

    static class InPlaceOfSpringBoots implements ErrorWebExceptionHandler {

        @Override
        public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
            return teapot(exchange);
        }
    }

    static class InPlaceOfSpringBootsByName {

        @Bean
        ErrorWebExceptionHandler errorWebExceptionHandler() {
            return (exchange, failure) -> teapot(exchange);
        }
    }

    private static Mono<Void> teapot(ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(HttpStatus.I_AM_A_TEAPOT);
        return response.setComplete();
    }

    @ControllerAdvice
    static class OwnProblemDetails extends ResponseEntityExceptionHandler {}

    @ControllerAdvice(assignableTypes = Prices.class)
    static class ProblemDetailsOfOthers extends ResponseEntityExceptionHandler {}

    @ControllerAdvice
    static class UnwritableProblem extends ResponseEntityExceptionHandler {

        @Override
        protected Mono<ResponseEntity<Object>> createResponseEntity(
                Object body, HttpHeaders headers, HttpStatusCode status, ServerWebExchange exchange) {
            return Mono.just(new ResponseEntity<>(new Object(), headers, status));
        }
    }
}
