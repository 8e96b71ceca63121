package io.github.virtualthread.docs;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.docs.Shop.Prices;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
class Warehouse {

    private final Prices prices;

    Warehouse(Prices prices) {
        this.prices = prices;
    }

    // example: OnDbUsed
    @OnDb
    CompletableFuture<Integer> stock(long id) {
        return completedFuture(prices.stock(id));
    }
    // end
}
