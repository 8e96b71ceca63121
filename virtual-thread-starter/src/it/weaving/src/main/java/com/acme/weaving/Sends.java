package com.acme.weaving;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;

/** Generic, so that an implementation has a bridge. */
public interface Sends<T> {

    CompletableFuture<Thread> send(T text);

    @VirtualThread("mail")
    default CompletableFuture<Thread> sendByDefault() {
        return CompletableFuture.completedFuture(Thread.currentThread());
    }
}
