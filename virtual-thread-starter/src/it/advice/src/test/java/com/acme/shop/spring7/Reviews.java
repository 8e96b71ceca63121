package com.acme.shop.spring7;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Service;

@Service
class Reviews {

    private final PartnerClient partner;

    Reviews(PartnerClient partner) {
        this.partner = partner;
    }

    @VirtualThread("none") // a thread of its own, and no permit
    @Retryable(maxRetries = 2, delay = 60_000) // a minute later, twice
    CompletableFuture<String> review(long id) throws IOException {
        return completedFuture(partner.review(id));
    }
}
