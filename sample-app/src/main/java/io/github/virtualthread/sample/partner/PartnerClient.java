package io.github.virtualthread.sample.partner;

import java.util.List;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Asks the slow partner, by HTTP. */
@Component
public class PartnerClient {

    private static final ParameterizedTypeReference<List<Review>> REVIEWS = new ParameterizedTypeReference<>() {};

    private final RestClient http;
    private final Environment environment;

    PartnerClient(RestClient.Builder http, Environment environment) {
        this.http = http.build();
        this.environment = environment;
    }

    public List<Review> reviews(long id) {
        // The partner is this application, and its port is known only once it has started.
        String port = environment.getRequiredProperty("local.server.port");
        return http.get()
                .uri("http://localhost:{port}/partner/reviews/{id}", port, id)
                .retrieve()
                .body(REVIEWS);
    }
}
