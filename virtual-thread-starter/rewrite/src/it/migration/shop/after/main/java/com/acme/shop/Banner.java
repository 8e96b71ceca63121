package com.acme.shop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Banner {

    /** Fails when it is called: nothing but a future can be returned before the work is done. */
    // Stays @Async: it returns List<String>. @VirtualThread needs CompletableFuture, CompletionStage, Future or void.
    @Async
    public List<String> lines() {
        return List.of("shop");
    }

    // Stays @Async: its executor is not named by letters, digits, '-' and '_'. Set a limit, and name it in @VirtualThread.
    @Async("${banner.executor:bannerExecutor}")
    public void refresh() {}

    // Stays @Async: the size of bannerExecutor is unknown. Set virtual-thread.limits.bannerExecutor.permits.
    @Async("bannerExecutor")
    public CompletableFuture<Integer> width() {
        return CompletableFuture.completedFuture(lines().get(0).length());
    }
}
