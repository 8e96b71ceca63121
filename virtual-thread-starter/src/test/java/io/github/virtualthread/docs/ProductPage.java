package io.github.virtualthread.docs;

// example: ProductPage
import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Service;

@Service
class ProductPage {

    @Autowired
    Prices prices;

    @VirtualThread("db") // runs on a virtual thread, under the limit named db
    CompletableFuture<Price> price(long id) {
        return completedFuture(prices.find(id)); // may block: the caller already has its future
    }
}
// end
