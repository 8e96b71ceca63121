package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** Tasks that block, as a query or a remote call does, and need no processor meanwhile. */
@Service
class BlockingTasks {

    // shown
    @Async
    CompletableFuture<Void> async(Duration time) throws InterruptedException {
        Thread.sleep(time);
        return completedFuture(null);
    }

    @VirtualThread
    CompletableFuture<Void> virtual(Duration time) throws InterruptedException {
        Thread.sleep(time);
        return completedFuture(null);
    }
    // shown
}
