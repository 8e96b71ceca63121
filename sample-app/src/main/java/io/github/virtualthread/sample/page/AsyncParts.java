package io.github.virtualthread.sample.page;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.sample.partner.Review;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** The same parts by Spring's {@code @Async}, on the default pool: Spring Boot's {@code applicationTaskExecutor}. */
@Service
class AsyncParts {

    private final SyncParts parts;

    AsyncParts(SyncParts parts) {
        this.parts = parts;
    }

    @Async
    CompletableFuture<Part<BigDecimal>> price(long id) {
        return completedFuture(parts.price(id));
    }

    @Async
    CompletableFuture<Part<Integer>> stock(long id) {
        return completedFuture(parts.stock(id));
    }

    @Async
    CompletableFuture<Part<List<Review>>> reviews(long id) {
        return completedFuture(parts.reviews(id));
    }
}
