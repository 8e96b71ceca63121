package io.github.virtualthread.docs.context;

import io.github.virtualthread.execution.Deadline;
import io.micrometer.context.ContextSnapshotFactory;
import java.time.Duration;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

// example: RequestDeadline
@Component
class RequestDeadline implements WebFilter {

    private final ContextSnapshotFactory snapshots =
            ContextSnapshotFactory.builder().build();

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.fromCallable(() -> Deadline.call(Duration.ofSeconds(5), snapshots::captureAll))
                .flatMap(snapshot -> chain.filter(exchange).contextWrite(snapshot::updateContext));
    }
}
// end
