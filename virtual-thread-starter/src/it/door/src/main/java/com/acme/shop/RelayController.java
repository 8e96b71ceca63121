package com.acme.shop;

import io.github.virtualthread.execution.Deadline;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/** A service that calls another one, which is this application again. */
@RestController
class RelayController {

    private final RestClient client;
    private final Environment environment;

    RelayController(RestClient.Builder client, Environment environment) {
        this.client = client.build();
        this.environment = environment;
    }

    /** The milliseconds that are left here, and at each service behind this one. */
    @GetMapping("/relay/{services}")
    String relay(@PathVariable("services") int services) {
        String left = Deadline.remaining().map(time -> time.toMillis() + " ").orElse("none ");
        if (services == 0) {
            return left;
        }
        String next =
                "http://localhost:%s/relay/%d".formatted(environment.getProperty("local.server.port"), services - 1);
        return left + client.get().uri(next).retrieve().body(String.class);
    }
}
