package com.acme.compiled;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Records and pattern matching are in Java 21, which javac has compiled; the weaver has to read them. */
public final class Mailer {

    record Mail(String to) {}

    public CompletableFuture<Thread> sendByItself() {
        return send();
    }

    public CompletableFuture<Thread> sendPrivately(Object mail) {
        return switch (mail) {
            case Mail(String to) when !to.isEmpty() -> secretly(Thread::currentThread);
            default -> completedFuture(Thread.currentThread());
        };
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
