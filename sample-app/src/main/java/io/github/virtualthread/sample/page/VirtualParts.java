package io.github.virtualthread.sample.page;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.sample.partner.Review;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

/** The same parts on virtual threads, each under the limit of what it calls; the limits are in application.yml. */
@Service
class VirtualParts {

    private final SyncParts parts;

    VirtualParts(SyncParts parts) {
        this.parts = parts;
    }

    @VirtualThread("db")
    CompletableFuture<Part<BigDecimal>> price(long id) {
        return completedFuture(parts.price(id));
    }

    @VirtualThread("db")
    CompletableFuture<Part<Integer>> stock(long id) {
        return completedFuture(parts.stock(id));
    }

    @VirtualThread("partner")
    CompletableFuture<Part<List<Review>>> reviews(long id) {
        return completedFuture(parts.reviews(id));
    }
}
