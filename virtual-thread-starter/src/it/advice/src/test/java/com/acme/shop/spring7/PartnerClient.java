package com.acme.shop.spring7;

import io.github.virtualthread.Limited;
import java.io.IOException;
import org.springframework.stereotype.Component;

@Component
class PartnerClient {

    private final Http http;

    PartnerClient(Http http) {
        this.http = http;
    }

    @Limited("partner") // the permit, for each attempt anew
    String review(long id) throws IOException {
        return http.get("/reviews/" + id);
    }

    interface Http {
        String get(String path) throws IOException;
    }
}
