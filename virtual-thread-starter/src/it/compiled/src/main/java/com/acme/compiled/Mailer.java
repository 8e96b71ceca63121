package com.acme.compiled;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A final class, which no proxy could be made of. */
public final class Mailer {

    public CompletableFuture<Thread> sendByItself() {
        return send();
    }

    public CompletableFuture<Thread> sendPrivately() {
        return secretly(Thread::currentThread);
    }

    @VirtualThread("mail")
    public CompletableFuture<Thread> send() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    private CompletableFuture<Thread> secretly(Supplier<Thread> thread) {
        return completedFuture(thread.get());
    }

    @Limited("mail")
    public Thread limited() {
        return Thread.currentThread();
    }
}
