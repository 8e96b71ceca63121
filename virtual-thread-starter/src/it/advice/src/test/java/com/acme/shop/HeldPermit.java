package com.acme.shop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** One permit of a limit that somebody else holds. */
public final class HeldPermit implements AutoCloseable {

    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final CompletableFuture<Boolean> holder;

    private HeldPermit(VirtualThreads threads, String limit) {
        holder = threads.submit(limit, () -> {
            held.countDown();
            return released.await(120, SECONDS);
        });
    }

    /** Returns when the permit is held. */
    public static HeldPermit of(VirtualThreads threads, String limit) throws InterruptedException {
        HeldPermit permit = new HeldPermit(threads, limit);
        assertThat(permit.held.await(120, SECONDS)).as("a permit of " + limit).isTrue();
        return permit;
    }

    /** Gives the permit back; returns when it is. */
    @Override
    public void close() {
        released.countDown();
        assertThat(holder).succeedsWithin(120, SECONDS).isEqualTo(true);
    }
}
