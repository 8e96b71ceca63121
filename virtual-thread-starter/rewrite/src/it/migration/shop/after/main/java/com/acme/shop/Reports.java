package com.acme.shop;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.springframework.stereotype.Service;

@Service
@VirtualThread("reportExecutor")
class Reports {

    public CompletionStage<String> daily() {
        return CompletableFuture.completedFuture("daily report on " + Thread.currentThread());
    }

    public Future<String> weekly() {
        return CompletableFuture.completedFuture(header() + Thread.currentThread());
    }

    private String header() {
        return "weekly report on ";
    }
}
