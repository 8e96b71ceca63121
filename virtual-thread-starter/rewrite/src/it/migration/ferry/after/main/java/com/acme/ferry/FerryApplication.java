package com.acme.ferry;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableAsync;

@EnableAsync
@SpringBootApplication
class FerryApplication {

    @VirtualThread("none")
    public CompletableFuture<String> cross() {
        return CompletableFuture.completedFuture("crossed on " + Thread.currentThread());
    }

    @VirtualThread("none")
    public void turn() {}
}
