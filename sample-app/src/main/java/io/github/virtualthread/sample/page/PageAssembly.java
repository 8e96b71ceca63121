package io.github.virtualthread.sample.page;

import io.github.virtualthread.sample.partner.Review;
import io.github.virtualthread.sample.request.RanOn;
import io.github.virtualthread.sample.request.Stopwatch;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A product page in the making: knows when and on which thread the request began. */
final class PageAssembly {

    private final Stopwatch stopwatch = Stopwatch.start();
    private final RanOn request = RanOn.here();
    private final long id;

    private PageAssembly(long id) {
        this.id = id;
    }

    static PageAssembly start(long id) {
        return new PageAssembly(id);
    }

    ProductPage of(Part<BigDecimal> price, Part<Integer> stock, Part<List<Review>> reviews) {
        return new ProductPage(id, stopwatch.millis(), request, price, stock, reviews);
    }

    CompletableFuture<ProductPage> of(
            CompletableFuture<Part<BigDecimal>> price,
            CompletableFuture<Part<Integer>> stock,
            CompletableFuture<Part<List<Review>>> reviews) {
        return CompletableFuture.allOf(price, stock, reviews)
                .thenApply(done -> of(price.join(), stock.join(), reviews.join()));
    }
}
