package com.acme.shop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Banner {

    /** Fails when it is called: nothing but a future can be returned before the work is done. */
    @Async
    public List<String> lines() {
        return List.of("shop");
    }

    @Async("${banner.executor:bannerExecutor}")
    public void refresh() {}

    @Async("bannerExecutor")
    public CompletableFuture<Integer> width() {
        return CompletableFuture.completedFuture(lines().get(0).length());
    }
}
