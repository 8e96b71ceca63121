package io.github.virtualthread.web;

import io.github.virtualthread.Internal;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** Answers WebFlux requests whose call was rejected, or has timed out. */
@Internal
public final class WebFluxRejections implements WebExceptionHandler, Ordered {

    private final SingletonSupplier<List<RejectionAnswer>> answers;
    private final int order;
    private final SingletonSupplier<Optional<DispatchExceptionHandler>> problemDetails;
    private final Supplier<Stream<HandlerResultHandler>> resultHandlers;

    /**
     * Creates a handler of rejections, which looks up nothing before the first failure of a request.
     *
     * @param answers status and header for each kind of failure
     * @param order order among the exception handlers
     * @param problemDetails turns an error response into a problem detail; null if the application has none
     * @param resultHandlers write the problem detail
     */
    public WebFluxRejections(
            Supplier<List<RejectionAnswer>> answers,
            int order,
            Supplier<? extends @Nullable DispatchExceptionHandler> problemDetails,
            Supplier<Stream<HandlerResultHandler>> resultHandlers) {
        this.answers = SingletonSupplier.of(answers);
        this.order = order;
        this.problemDetails = SingletonSupplier.of(() -> Optional.ofNullable(problemDetails.get()));
        this.resultHandlers = resultHandlers;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ServerHttpResponse response = exchange.getResponse();
        RejectionAnswer answer = RejectionAnswer.to(failure, answers.obtain());
        if (answer == null || response.isCommitted()) {
            return Mono.error(failure);
        }
        DispatchExceptionHandler details = problemDetails.obtain().orElse(null);
        if (details == null) {
            return withoutBody(response, answer);
        }
        return details.handleError(exchange, answer.problem(failure))
                .flatMap(result -> write(exchange, result, answer))
                .onErrorResume(unwritten -> !response.isCommitted(), unwritten -> withoutBody(response, answer));
    }

    private Mono<Void> write(ServerWebExchange exchange, HandlerResult result, RejectionAnswer answer) {
        return resultHandlers
                .get()
                .filter(handler -> handler.supports(result))
                .findFirst()
                .map(handler -> handler.handleResult(exchange, result))
                .orElseGet(() -> withoutBody(exchange.getResponse(), answer));
    }

    private static Mono<Void> withoutBody(ServerHttpResponse response, RejectionAnswer answer) {
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        response.getHeaders().clearContentHeaders();
        answer.setRetryAfter(response.getHeaders()::set);
        return response.setComplete();
    }
}
