package io.github.virtualthread.web;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/** Calls under a limit, of which some are late and some have no end. */
class Prices {

    private final Semaphore late = new Semaphore(0);
    private final Semaphore endless = new Semaphore(0);

    /** Does not react to the interrupt: the log comes before the end of the call, and not beside it. */
    @VirtualThread(limit = "db", timeout = "10ms")
    CompletableFuture<String> late() {
        late.acquireUninterruptibly();
        return CompletableFuture.completedFuture("too late");
    }

    void endLate() {
        late.release();
    }

    /** By a method, because the bean is a proxy. */
    void awaitEndless() {
        endless.acquireUninterruptibly();
    }

    @VirtualThread("db")
    CompletableFuture<String> endless() throws InterruptedException {
        endless.release();
        late.acquire();
        return CompletableFuture.completedFuture("never");
    }

    @VirtualThread("db")
    CompletableFuture<String> find() {
        return CompletableFuture.completedFuture("7");
    }
}
