package io.github.virtualthread.docs.statements;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.jdbc.HikariStatements;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@EnableVirtual
// example: PlainStatements
@Configuration
class PlainStatements {

    @Bean
    static HikariStatements statements() {
        return new HikariStatements();
    }

    @Bean
    HikariDataSource dataSource(@Value("${shop.url}") String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        return pool;
    }
}
// end
