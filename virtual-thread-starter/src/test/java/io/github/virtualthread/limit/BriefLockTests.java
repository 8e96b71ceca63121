package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock that is held for longer than anybody spins for it. */
@Timeout(20)
class BriefLockTests {

    private final BriefLock lock = new BriefLock();
    private final CompletableFuture<Boolean> locked = new CompletableFuture<>();

    /** Tells whether its thread is interrupted when it has the lock. */
    private Thread locking(Thread.Builder builder) {
        Thread thread = builder.unstarted(
                () -> locked.complete(lock.locked(() -> Thread.currentThread().isInterrupted())));
        thread.start();
        awaitQueued(thread);
        return thread;
    }

    private void awaitQueued(Thread thread) {
        while (!lock.hasQueuedThread(thread) && !Thread.currentThread().isInterrupted()) {
            Thread.yield();
        }
    }

    @Test
    void aPlatformThreadDoesNotWaitForAVirtualOneThatGetsNoCarrier() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        lock.lock();
        try {
            Thread virtual = Thread.ofVirtual().start(() -> lock.locked(() -> null));
            awaitQueued(virtual);
            for (int i = 0; i < carriers; i++) {
                Thread.ofVirtual().start(() -> {
                    busy.countDown();
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            assertThat(busy.await(10, TimeUnit.SECONDS)).isTrue();
            locking(Thread.ofPlatform().daemon());
        } finally {
            lock.unlock();
        }

        try {
            assertThat(locked).succeedsWithin(5, TimeUnit.SECONDS);
        } finally {
            over.set(true);
        }
    }

    @Test
    void whoIsInterruptedGetsTheLockAndStaysInterrupted() {
        lock.lock();
        try {
            locking(Thread.ofPlatform().daemon()).interrupt();
        } finally {
            lock.unlock();
        }

        assertThat(locked).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(true);
    }
}
