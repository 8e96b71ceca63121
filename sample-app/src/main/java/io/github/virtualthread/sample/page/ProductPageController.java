package io.github.virtualthread.sample.page;

import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * One page, three ways.
 *
 * <p>Two of them return a future rather than joining the parts: no request thread waits, whether that is a virtual one or
 * one of Tomcat's pool, and Spring MVC hands a part's own exception to {@link ProductPageProblems}.
 */
@RestController
class ProductPageController {

    private final SyncParts sync;
    private final AsyncParts async;
    private final VirtualParts virtual;

    ProductPageController(SyncParts sync, AsyncParts async, VirtualParts virtual) {
        this.sync = sync;
        this.async = async;
        this.virtual = virtual;
    }

    @GetMapping("/sync/products/{id}")
    ProductPage sync(@PathVariable long id) {
        return PageAssembly.start(id).of(sync.price(id), sync.stock(id), sync.reviews(id));
    }

    @GetMapping("/async/products/{id}")
    CompletableFuture<ProductPage> async(@PathVariable long id) {
        return PageAssembly.start(id).of(async.price(id), async.stock(id), async.reviews(id));
    }

    @GetMapping({"/products/{id}", "/virtual/products/{id}"})
    CompletableFuture<ProductPage> virtual(@PathVariable long id) {
        return PageAssembly.start(id).of(virtual.price(id), virtual.stock(id), virtual.reviews(id));
    }
}
