package io.github.virtualthread.sample.lab.experiment;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.EnableResilientMethods;

/** A database with few connections beside the one of the product page, for the experiments. */
@Configuration(proxyBeanMethods = false)
@EnableResilientMethods // for Spring's own @ConcurrencyLimit; the starter needs no such annotation
class ScarceDatabase {

    /** By name only: whoever asks for a data source gets that of the product page. */
    @Bean(defaultCandidate = false)
    ScarcePool scarcePool(@Value("${scarce.connections}") int connections) {
        return new ScarcePool(connections);
    }

    @Bean(defaultCandidate = false)
    JdbcTemplate scarceJdbc(@Qualifier("scarcePool") ScarcePool pool) {
        return new JdbcTemplate(pool);
    }
}
