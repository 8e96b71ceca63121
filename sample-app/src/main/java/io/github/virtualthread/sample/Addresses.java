package io.github.virtualthread.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** Tells in the first line after the start what to open. */
@Component
class Addresses {

    private static final Logger log = LoggerFactory.getLogger(Addresses.class);

    private final Environment environment;

    Addresses(Environment environment) {
        this.environment = environment;
    }

    @EventListener(ApplicationReadyEvent.class)
    void tell() {
        String origin = "http://localhost:" + environment.getProperty("local.server.port");
        log.info("""
                Open the laboratory at {0}/ , the product page at {0}/sync/products/1 , {0}/async/products/1 , {0}/virtual/products/1 or paste:
                  curl -H 'X-Request-Id: demo' {0}/sync/products/1
                  curl -H 'X-Request-Id: demo' {0}/async/products/1
                  curl -H 'X-Request-Id: demo' {0}/virtual/products/1
                  curl -H 'X-Request-Id: demo' -H 'Content-Type: application/json' \
                -d '{"name": "Teapot", "price": 24.50, "stock": 5}' {0}/products""".replace("{0}", origin));
    }
}
