package io.github.virtualthread.sample.catalog;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.sample.request.RanOn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** What happens after a product was added, while the request goes on. */
@Component
class ProductAddedListener {

    private static final Logger log = LoggerFactory.getLogger(ProductAddedListener.class);

    @VirtualThread
    @EventListener
    void tellShops(ProductAdded event) {
        log.info("Telling the shops of {}, product {}", event.name(), event.id());
        event.handled().complete(RanOn.here());
    }
}
