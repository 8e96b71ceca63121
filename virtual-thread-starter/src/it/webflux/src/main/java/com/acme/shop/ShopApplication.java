package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@SpringBootApplication
public class ShopApplication {

    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }

    @VirtualThread("db")
    @GetMapping("/price")
    public CompletableFuture<String> price() {
        return completedFuture("7 on " + Thread.currentThread().getName());
    }

    /** Takes longer than it may. */
    @VirtualThread(limit = "none", timeout = "10ms")
    @GetMapping("/late")
    public CompletableFuture<String> late() throws InterruptedException {
        new CountDownLatch(1).await();
        return completedFuture("never");
    }
}
