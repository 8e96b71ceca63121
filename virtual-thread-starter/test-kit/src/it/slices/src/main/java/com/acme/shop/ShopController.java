package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ShopController {

    @VirtualThread("db")
    @GetMapping("/thread")
    CompletableFuture<String> thread() {
        return completedFuture(Thread.currentThread().getName());
    }
}
