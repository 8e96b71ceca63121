package io.github.virtualthread.sample.page;

import io.github.virtualthread.sample.catalog.ProductRepository;
import io.github.virtualthread.sample.partner.PartnerClient;
import io.github.virtualthread.sample.partner.Review;
import java.math.BigDecimal;
import java.util.List;
import org.springframework.stereotype.Service;

/** The parts of a product page, each got on the caller's own thread. */
@Service
class SyncParts {

    private final ProductRepository products;
    private final PartnerClient partner;

    SyncParts(ProductRepository products, PartnerClient partner) {
        this.products = products;
        this.partner = partner;
    }

    Part<BigDecimal> price(long id) {
        return Part.of(() -> products.price(id));
    }

    Part<Integer> stock(long id) {
        return Part.of(() -> products.stock(id));
    }

    Part<List<Review>> reviews(long id) {
        return Part.of(() -> partner.reviews(id));
    }
}
