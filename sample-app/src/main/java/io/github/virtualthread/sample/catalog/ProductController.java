package io.github.virtualthread.sample.catalog;

import io.github.virtualthread.sample.request.RanOn;
import io.github.virtualthread.sample.request.Stopwatch;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Takes new products. */
@RestController
class ProductController {

    private final ProductRepository products;
    private final ApplicationEventPublisher events;

    ProductController(ProductRepository products, ApplicationEventPublisher events) {
        this.products = products;
        this.events = events;
    }

    @PostMapping("/products")
    CompletableFuture<ResponseEntity<AddedProduct>> add(@RequestBody NewProduct product) {
        var stopwatch = Stopwatch.start();
        var request = RanOn.here();
        var added = new ProductAdded(products.add(product), product.name());
        events.publishEvent(added);
        return added.handled().thenApply(event -> ResponseEntity.created(URI.create("/products/" + added.id()))
                .body(new AddedProduct(added.id(), stopwatch.millis(), request, event)));
    }
}
