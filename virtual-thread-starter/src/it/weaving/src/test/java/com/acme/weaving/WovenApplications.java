package com.acme.weaving;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Applications whose classes are woven. */
abstract class WovenApplications {

    @BeforeEach
    @AfterEach
    void forget() {
        Trace.take();
    }

    static ConfigurableApplicationContext run(Class<?> type, String... arguments) {
        return new SpringApplicationBuilder(type).web(WebApplicationType.NONE).run(arguments);
    }
}
