package io.github.virtualthread.sample.lab.experiment;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.EnableResilientMethods;

/** A database with few connections beside the one of the product page, for the experiments. */
@Configuration(proxyBeanMethods = false)
@EnableResilientMethods // for Spring's own @ConcurrencyLimit; the starter needs no such annotation
class ScarceDatabase {

    @Bean
    @Profile("!postgres & !mariadb")
    ScarceServer h2Server() {
        return new H2Server();
    }

    @Bean
    @Profile("postgres")
    ScarceServer postgresServer() {
        return PostgresServer.start();
    }

    @Bean
    @Profile("mariadb")
    ScarceServer mariaDbServer() {
        return MariaDbServer.start();
    }

    /** By name only: whoever asks for a data source gets that of the product page. */
    @Bean(defaultCandidate = false)
    ScarcePool scarcePool(ScarceServer server, @Value("${scarce.connections}") int connections) {
        return new ScarcePool(server, connections);
    }

    @Bean(defaultCandidate = false)
    JdbcTemplate scarceJdbc(@Qualifier("scarcePool") ScarcePool pool) {
        return new JdbcTemplate(pool);
    }
}
