package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
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
}
