package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.MessageSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.error.ErrorWebFluxAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.web.reactive.error.ErrorWebExceptionHandler;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** How WebFlux answers a request whose call was rejected, or has timed out. */
class WebFluxRejectionsTests extends RejectionsContract {

    private static final AutoConfigurations OURS =
            AutoConfigurations.of(VirtualThreadAutoConfiguration.class, VirtualThreadWebFluxAutoConfiguration.class);

    private static final ReactiveWebApplicationContextRunner RUNNER = new ReactiveWebApplicationContextRunner()
            .withConfiguration(OURS)
            .withConfiguration(AutoConfigurations.of(
                    CodecsAutoConfiguration.class,
                    ErrorWebFluxAutoConfiguration.class,
                    JacksonAutoConfiguration.class,
                    MessageSourceAutoConfiguration.class,
                    WebFluxAutoConfiguration.class))
            .withUserConfiguration(FluxShop.class);

    WebFluxRejectionsTests() {
        super(RUNNER, "spring.webflux.problemdetails.enabled");
    }

    @Override
    WebTestClient client(ApplicationContext context) {
        return WebTestClient.bindToApplicationContext(context)
                .configureClient()
                .responseTimeout(Duration.ofMinutes(2))
                .build();
    }

    @Override
    List<String> ways() {
        return List.of("/throws/", "/future/", "/mono/", "/functional/");
    }

    /** By Spring Boot's own handler. */
    @Override
    void assertLeftAlone(ApplicationContext context, String uri) {
        get(context, uri)
                .expectStatus()
                .isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR)
                .expectBody()
                .jsonPath("$.error")
                .isEqualTo("Internal Server Error");
    }

    @Override
    Class<?> ownProblemDetails() {
        return OwnProblemDetails.class;
    }

    @Override
    Class<?> problemDetailsOfOthers() {
        return ProblemDetailsOfOthers.class;
    }

    static List<Class<?>> handlers() {
        return List.of(
                OwnAdvice.class,
                AdviceForAll.class,
                BeforeSpringBoots.class,
                InPlaceOfSpringBoots.class,
                InPlaceOfSpringBootsByName.class);
    }

    static List<Class<?>> handlersOfTimeouts() {
        return List.of(
                AdviceForTimeouts.class, AdviceForAll.class, BeforeSpringBoots.class, InPlaceOfSpringBoots.class);
    }

    @Test
    void aBodyThatCannotBeWrittenIsLeftOut() {
        runner().withUserConfiguration(UnwritableProblem.class)
                .run(context -> assertUnavailable(get(context, "/throws/ITSELF")));
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
                .withConfiguration(OURS)
                .withConfiguration(AutoConfigurations.of(WebFluxAutoConfiguration.class))
                .withUserConfiguration(FluxShop.class)
                .run(context -> assertUnavailable(get(context, "/mono/ITSELF")));
    }

    @Test
    void nothingIsThereWithoutWebFlux() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(OURS)
                .withClassLoader(new FilteredClassLoader("org.springframework.web.reactive.Dispatch"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
        new ApplicationContextRunner()
                .withConfiguration(OURS)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("virtualThreadRejections"));
    }

    @Test
    void nothingIsThereWithoutTheRestOfTheStarter() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadWebFluxAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WebFluxRejections.class));
    }

    @RestController
    static class FluxShop {

        @Bean
        static RouterFunction<ServerResponse> functional() {
            return RouterFunctions.route(
                    RequestPredicates.GET("/functional/{rejected}"),
                    request -> Mono.error(Rejected.valueOf(request.pathVariable("rejected")).failure));
        }

        @GetMapping("/mono/{rejected}")
        Mono<String> mono(@PathVariable Rejected rejected) {
            return Mono.error(rejected.failure);
        }
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
