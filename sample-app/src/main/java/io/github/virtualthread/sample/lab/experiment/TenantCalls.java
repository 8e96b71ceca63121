package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

/** A call of a tenant, in four ways to share a limit with other tenants. */
@Service
class TenantCalls {

    // shown
    @VirtualThread("tenants")
    CompletableFuture<Long> inOneQueue(String tenant, Duration time) throws InterruptedException {
        return work(time);
    }

    @VirtualThread(limit = "tenants", key = "#tenant")
    CompletableFuture<Long> inTurns(String tenant, Duration time) throws InterruptedException {
        return work(time);
    }

    @VirtualThread(limit = "weighted-tenants", key = "#tenant")
    CompletableFuture<Long> weighted(String tenant, Duration time) throws InterruptedException {
        return work(time);
    }

    @VirtualThread(limit = "capped-tenants", key = "#tenant")
    CompletableFuture<Long> capped(String tenant, Duration time) throws InterruptedException {
        return work(time);
    }

    private static CompletableFuture<Long> work(Duration time) throws InterruptedException {
        long began = System.nanoTime();
        Thread.sleep(time);
        return completedFuture(began);
    }
    // shown
}
