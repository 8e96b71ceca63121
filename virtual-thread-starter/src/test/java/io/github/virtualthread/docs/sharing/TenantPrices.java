package io.github.virtualthread.docs.sharing;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.docs.Shop.Booking;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Service;

// example: TenantPrices
@Service
class TenantPrices {

    @Autowired
    Prices prices;

    @VirtualThread(limit = "partner", key = "#tenant")
    CompletableFuture<Price> price(String tenant, long id) {
        return completedFuture(prices.find(id));
    }

    @Limited(limit = "partner", key = "#booking.customer.id") // on the caller's thread, under the same limit
    Price confirm(Booking booking) {
        return prices.find(booking.id());
    }
}
// end
