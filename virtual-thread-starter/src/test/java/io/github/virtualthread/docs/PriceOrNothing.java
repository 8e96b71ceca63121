package io.github.virtualthread.docs;

import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.springframework.stereotype.Service;

@Service
class PriceOrNothing {

    private final ProductPage parts;

    PriceOrNothing(ProductPage parts) {
        this.parts = parts;
    }

    // example: PriceOrNothing
    CompletableFuture<Optional<Price>> price(long id) {
        return parts.price(id).handle((price, failure) -> {
            if (failure instanceof LimitExceededException busy) {
                return Optional.empty(); // busy.limit(), busy.reason() and busy.task() say more
            }
            if (failure != null) {
                throw new CompletionException(failure);
            }
            return Optional.of(price);
        });
    }
    // end
}
