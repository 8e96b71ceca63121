package io.github.virtualthread.docs.sharing;

import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
class TenantPricesByHand {

    private final VirtualThreads threads;
    private final Prices prices;

    TenantPricesByHand(VirtualThreads threads, Prices prices) {
        this.threads = threads;
        this.prices = prices;
    }

    // example: ByHandForKey
    CompletableFuture<Price> price(String tenant, long id) {
        return threads.forKey(tenant).submit("partner", () -> prices.find(id));
    }
    // end
}
