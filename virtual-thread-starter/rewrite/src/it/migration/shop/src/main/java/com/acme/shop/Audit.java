package com.acme.shop;

import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Async
@Service
class Audit {

    CompletableFuture<String> record() {
        return CompletableFuture.completedFuture("recorded on " + Thread.currentThread());
    }

    @Async("mailExecutor")
    public void report() {}
}
