package com.acme.shop;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
class Mailer {

    /** One of many. */
    @VirtualThread
    public CompletableFuture<String> confirm() {
        return deliver("confirmation");
    }

    @VirtualThread("mailExecutor")
    public CompletableFuture<String> remind() {
        return deliver("reminder");
    }

    @VirtualThread(value = "mailExecutor")
    public void forget() {
        deliver("farewell");
    }

    private static CompletableFuture<String> deliver(String mail) {
        return CompletableFuture.completedFuture(mail + " on " + Thread.currentThread());
    }
}
