package com.acme.compiled;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class CompiledApplication {

    @Bean
    Mailer mailer() {
        return new Mailer();
    }
}
