package io.github.virtualthread.docs.cluster;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.config.VirtualThreadDataSource;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.jdbc.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

// example: PermitsPool
@Configuration
class PermitsPool {

    @Bean(defaultCandidate = false)
    @VirtualThreadDataSource
    DataSource permits(DataSourceProperties properties) {
        HikariDataSource pool = properties
                .initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
        pool.setMaximumPoolSize(2);
        return pool;
    }
}
// end
