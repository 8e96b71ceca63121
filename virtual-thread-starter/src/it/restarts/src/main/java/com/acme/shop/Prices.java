package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** What all of the tests call. */
public class Prices {

    private static final String OF_TEA = "7 EUR"; // a test changes it in the class file

    /** The price, if it is looked up where it should be. */
    @VirtualThread("one")
    public CompletableFuture<String> ofTea() {
        Thread thread = Thread.currentThread();
        if (!thread.isVirtual() || thread.getContextClassLoader() != Prices.class.getClassLoader()) {
            throw new IllegalStateException("on %s of %s".formatted(thread, thread.getContextClassLoader()));
        }
        return completedFuture(OF_TEA);
    }

    /**
     * Holds the permit until the caller lets it go. It waits without a timeout, because the JDK's thread for those of virtual
     * threads may keep the class loader of the first that needs it.
     */
    @VirtualThread("one")
    public CompletableFuture<String> hold(CountDownLatch begun, CountDownLatch end) throws InterruptedException {
        begun.countDown();
        end.await();
        return completedFuture("let go");
    }
}
