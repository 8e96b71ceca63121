package io.github.virtualthread.docs.statements;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.jdbc.CancellableDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

@Configuration(proxyBeanMethods = false)
class PoolByHand {

    // example: PoolByHand
    @Bean
    DataSource dataSource(@Value("${shop.url}") String url) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(new CancellableDataSource(() -> new DriverManagerDataSource(url)));
        return new HikariDataSource(config);
    }
    // end
}
