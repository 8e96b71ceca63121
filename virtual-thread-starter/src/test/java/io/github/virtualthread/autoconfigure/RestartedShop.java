package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;

/**
 * A bean for {@link Restarts}, whose class each of its contexts has anew. One call ends, one waits too long, and one still runs
 * when the application closes.
 */
public class RestartedShop implements Runnable {

    private final ObjectProvider<RestartedShop> proxy;

    public RestartedShop(ObjectProvider<RestartedShop> proxy) {
        this.proxy = proxy;
    }

    @Override
    public void run() {
        RestartedShop shop = proxy.getObject();
        CountDownLatch running = new CountDownLatch(1);
        boolean priced = shop.price().join().equals("price");
        shop.untilClosed(running);
        boolean rejected =
                shop.price().handle((price, failure) -> failure != null).join();
        try {
            if (!priced || !rejected || !running.await(2, TimeUnit.MINUTES)) {
                throw new AssertionError("priced: %s, rejected: %s".formatted(priced, rejected));
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    @VirtualThread("db")
    public CompletableFuture<String> price() {
        return CompletableFuture.completedFuture("price");
    }

    @VirtualThread(limit = "db", timeout = "1h")
    public CompletableFuture<String> untilClosed(CountDownLatch running) {
        running.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
        return CompletableFuture.completedFuture("closed");
    }
}
