package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
public class PriceList {

    private final PriceRepository prices;

    PriceList(PriceRepository prices) {
        this.prices = prices;
    }

    @VirtualThread("db")
    public CompletableFuture<String> count() {
        return completedFuture(
                "%d on %s".formatted(prices.count(), Thread.currentThread().getName()));
    }
}
