package com.acme.shop;

import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

// Stays @Async: record is not public, and @VirtualThread on a class covers public methods only. Annotate the methods.
@Async
@Service
class Audit {

    CompletableFuture<String> record() {
        return CompletableFuture.completedFuture("recorded on " + Thread.currentThread());
    }

    @Async("mailExecutor")
    public void report() {}
}
