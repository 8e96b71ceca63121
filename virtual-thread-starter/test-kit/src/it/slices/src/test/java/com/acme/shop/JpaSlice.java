package com.acme.shop;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

/** The data source is an embedded database without a pool. */
@Import(PriceList.class)
public abstract class JpaSlice {

    @Test
    void aMethodRunsOnAVirtualThread(@Autowired PriceList prices, @Autowired TaskLimits limits) {
        assertThat(limits.get("db")).hasAvailable(10);
        assertThat(prices.count().join()).startsWith("0 on vt-PriceList.count-");
        assertThat(limits.get("db")).isIdle();
    }
}
