package io.github.virtualthread.sample.catalog;

import java.math.BigDecimal;
import org.springframework.util.Assert;

record NewProduct(String name, BigDecimal price, int stock) {

    NewProduct {
        Assert.hasText(name, "A product needs a name");
        Assert.notNull(price, "A product needs a price");
    }
}
