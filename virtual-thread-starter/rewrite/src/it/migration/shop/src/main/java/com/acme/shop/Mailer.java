package com.acme.shop;

import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Mailer {

    /** One of many. */
    @Async
    public CompletableFuture<String> confirm() {
        return deliver("confirmation");
    }

    @Async("mailExecutor")
    public CompletableFuture<String> remind() {
        return deliver("reminder");
    }

    @org.springframework.scheduling.annotation.Async(value = "mailExecutor")
    public void forget() {
        deliver("farewell");
    }

    private static CompletableFuture<String> deliver(String mail) {
        return CompletableFuture.completedFuture(mail + " on " + Thread.currentThread());
    }
}
