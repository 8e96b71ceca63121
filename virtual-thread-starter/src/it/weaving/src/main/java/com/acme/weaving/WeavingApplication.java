package com.acme.weaving;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
public class WeavingApplication {

    @Bean
    Mailer mailer() {
        return new Mailer();
    }

    @Bean
    Advised advised() {
        return new Advised();
    }

    @Bean
    Typed typed() {
        return new Typed();
    }

    @Bean
    Derived derived() {
        return new Derived();
    }

    @Bean
    Listening listening() {
        return new Listening();
    }
}
