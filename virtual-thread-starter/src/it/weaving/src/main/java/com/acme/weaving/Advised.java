package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Methods with advice of others. */
public class Advised {

    @Traced
    @VirtualThread(name = "advised")
    public CompletableFuture<Integer> work(int value) {
        Trace.add("body");
        return completedFuture(value);
    }

    @Traced
    @Transactional
    @VirtualThread(name = "transactional")
    public CompletableFuture<Boolean> inTransaction() {
        Trace.add("body");
        return completedFuture(TransactionSynchronizationManager.isActualTransactionActive());
    }
}
