package com.acme.shop;

import static io.github.virtualthread.test.LimitAssert.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/** The data source is that of the application. */
@TestPropertySource(
        properties = {
            "spring.test.database.replace=none",
            "spring.datasource.url=jdbc:h2:mem:pool",
            "spring.datasource.hikari.maximum-pool-size=3"
        })
public abstract class PoolSlice {

    @Test
    void aLimitTakesAllPermitsOfAPoolThatIsThere(@Autowired TaskLimits limits) {
        assertThat(limits.get("db")).hasAvailable(3);
    }
}
