package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;

/** Annotated as a whole. */
@VirtualThread("mail")
public class Typed implements Sends<String> {

    @Override
    public CompletableFuture<Thread> send(String text) {
        return completedFuture(Thread.currentThread());
    }

    CompletableFuture<Thread> notPublic() {
        return completedFuture(Thread.currentThread());
    }

    @Override
    public String toString() {
        return "Typed";
    }
}
