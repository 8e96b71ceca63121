package io.github.virtualthread.docs;

import io.github.virtualthread.docs.Shop.Page;
import io.github.virtualthread.docs.Shop.Price;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

// example: ProductPages
@Service
class ProductPages {

    private final ProductPage parts;
    private final Warehouse warehouse;

    ProductPages(ProductPage parts, Warehouse warehouse) {
        this.parts = parts;
        this.warehouse = warehouse;
    }

    CompletableFuture<Page> page(long id) {
        CompletableFuture<Price> price = parts.price(id); // both run at the same time
        CompletableFuture<Integer> stock = warehouse.stock(id);
        return price.thenCombine(stock, Page::new);
    }
}
// end
