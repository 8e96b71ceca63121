package io.github.virtualthread.sample.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

@SampleTest
@TestPropertySource(properties = "spring.datasource.hikari.maximum-pool-size=7")
@Tag("slow")
class DatabaseLimitTests {

    @Test
    void asManyCallsReachTheDatabaseAsItsPoolHasConnections(
            @Autowired TaskLimits limits, @Autowired HikariDataSource pool) {
        assertThat(limits.get("db").permits()).isEqualTo(7).isEqualTo(pool.getMaximumPoolSize());
    }
}
