package com.acme.ferry;

import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

@EnableAsync
@SpringBootApplication
class FerryApplication {

    @Async
    public CompletableFuture<String> cross() {
        return CompletableFuture.completedFuture("crossed on " + Thread.currentThread());
    }

    @Async("applicationTaskExecutor")
    public void turn() {}
}
