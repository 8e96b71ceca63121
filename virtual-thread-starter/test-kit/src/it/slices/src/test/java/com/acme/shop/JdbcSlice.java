package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

@Import(Stock.class)
public abstract class JdbcSlice {

    @Test
    void aMethodRunsOnAVirtualThread(@Autowired Stock stock) {
        assertThat(stock.count().join()).startsWith("40 on vt-Stock.count-");
    }
}
