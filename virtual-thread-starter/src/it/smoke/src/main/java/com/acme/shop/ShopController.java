package com.acme.shop;

import com.acme.shop.Prices.Price;
import io.github.virtualthread.Limited;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import org.slf4j.MDC;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ShopController {

    private final Prices prices;
    private final TaskLimit partner;

    ShopController(Prices prices, TaskLimits limits) {
        this.prices = prices;
        this.partner = limits.get("partner");
    }

    @GetMapping("/price")
    CompletableFuture<Price> price(@RequestHeader("X-Request-Id") String requestId) {
        try (var closed = MDC.putCloseable("requestId", requestId)) {
            return prices.find();
        }
    }

    @GetMapping("/late")
    Price late() throws Exception {
        return prices.late().get();
    }

    /** Permits of the partner that are free while this one is held. */
    @GetMapping("/free")
    @Limited("partner")
    int free() {
        return partner.available();
    }
}
