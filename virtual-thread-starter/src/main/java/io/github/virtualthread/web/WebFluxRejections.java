package io.github.virtualthread.web;

import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** Answers WebFlux requests whose call was rejected. */
public final class WebFluxRejections implements WebExceptionHandler, Ordered {

    private final RejectionAnswer answer;
    private final int order;
    private final @Nullable DispatchExceptionHandler problemDetails;
    private final Supplier<Stream<HandlerResultHandler>> resultHandlers;

    /**
     * Creates a handler of rejections.
     *
     * @param answer status and header
     * @param order order among the exception handlers
     * @param problemDetails turns an error response into a problem detail; null if the application has none
     * @param resultHandlers write the problem detail
     */
    public WebFluxRejections(
            RejectionAnswer answer,
            int order,
            @Nullable DispatchExceptionHandler problemDetails,
            Supplier<Stream<HandlerResultHandler>> resultHandlers) {
        this.answer = answer;
        this.order = order;
        this.problemDetails = problemDetails;
        this.resultHandlers = resultHandlers;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ServerHttpResponse response = exchange.getResponse();
        if (response.isCommitted() || !answer.covers(failure)) {
            return Mono.error(failure);
        }
        if (problemDetails == null) {
            return withoutBody(response);
        }
        return problemDetails
                .handleError(exchange, answer.problem(failure))
                .flatMap(result -> write(exchange, result))
                .onErrorResume(unwritten -> !response.isCommitted(), unwritten -> withoutBody(response));
    }

    private Mono<Void> write(ServerWebExchange exchange, HandlerResult result) {
        return resultHandlers
                .get()
                .filter(handler -> handler.supports(result))
                .findFirst()
                .map(handler -> handler.handleResult(exchange, result))
                .orElseGet(() -> withoutBody(exchange.getResponse()));
    }

    private Mono<Void> withoutBody(ServerHttpResponse response) {
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        response.getHeaders().clearContentHeaders();
        String seconds = answer.retryAfterSeconds();
        if (seconds != null) {
            response.getHeaders().set(HttpHeaders.RETRY_AFTER, seconds);
        }
        return response.setComplete();
    }
}
