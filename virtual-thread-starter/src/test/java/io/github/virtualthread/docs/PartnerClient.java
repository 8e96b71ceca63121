package io.github.virtualthread.docs;

import io.github.virtualthread.Limited;
import java.util.function.LongFunction;

// example: PartnerClient
class PartnerClient {

    private final LongFunction<String> http;

    PartnerClient(LongFunction<String> http) {
        this.http = http;
    }

    @Limited("partner")
    String reviews(long id) {
        return http.apply(id);
    }
}
// end
