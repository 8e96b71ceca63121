package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.MDC;

/** A final class, which no proxy could be made of. */
public final class Mailer {

    public final AtomicInteger running = new AtomicInteger();
    public final AtomicInteger most = new AtomicInteger();

    public CompletableFuture<Thread> sendByItself() {
        return send();
    }

    public CompletableFuture<Thread> sendPrivately() {
        return secretly();
    }

    @VirtualThread("mail")
    public CompletableFuture<Thread> send() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    private CompletableFuture<Thread> secretly() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    public static CompletableFuture<Thread> sendStatically() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    public CompletableFuture<String> requestId() {
        return completedFuture(MDC.get("requestId"));
    }

    @VirtualThread("mail")
    public CompletableFuture<Integer> hold(CountDownLatch entered, CountDownLatch release) throws InterruptedException {
        int now = running.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        entered.countDown();
        try {
            release.await();
        } finally {
            running.decrementAndGet();
        }
        return completedFuture(now);
    }

    @VirtualThread
    public void fail(String message) {
        throw new IllegalStateException(message);
    }

    @Limited("mail")
    public int limited(int value) {
        Trace.add("limited");
        return value;
    }

    @OnMail
    public CompletableFuture<Thread> byAnotherAnnotation() {
        return completedFuture(Thread.currentThread());
    }
}
