package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock that is held for longer than anybody spins for it. */
@Timeout(300)
@Tag("jdk")
class BriefLockTests {

    static volatile Runnable pin = () -> {};

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

    /** A virtual thread does not queue: it tries again and again, on its carrier. */
    private void awaitQueued(Thread thread) {
        while (!(thread.isVirtual() ? isLocking(thread) : lock.hasQueuedThread(thread))
                && !Thread.currentThread().isInterrupted()) {
            Thread.yield();
        }
    }

    private static boolean isLocking(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(BriefLock.class.getName()));
    }

    @Test
    void aPlatformThreadDoesNotWaitForAVirtualOneThatGetsNoCarrier() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        int carriers = Runtime.getRuntime().availableProcessors() - 1; // one is kept by the first
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
            assertThat(busy.await(2, TimeUnit.MINUTES)).isTrue();
            locking(Thread.ofPlatform().daemon());
        } finally {
            lock.unlock();
        }

        try {
            assertThat(locked).succeedsWithin(2, TimeUnit.MINUTES);
        } finally {
            over.set(true);
        }
    }

    @Test
    void virtualThreadsThatKeepAllCarriersDoNotWaitForOneThatGetsNone() throws Exception {
        List<Thread> pinned = new ArrayList<>();
        int carriers = Runtime.getRuntime().availableProcessors() - 1; // one is kept by the first
        CountDownLatch through = new CountDownLatch(carriers);
        pin = () -> {
            lock.locked(() -> null);
            through.countDown();
        };
        lock.lock();
        try {
            Thread virtual = Thread.ofVirtual().start(() -> lock.locked(() -> null));
            awaitQueued(virtual);
            for (int i = 0; i < carriers; i++) {
                pinned.add(Thread.ofVirtual().start(BriefLockTests::pinned));
            }
            pinned.forEach(this::awaitQueued);
        } finally {
            lock.unlock();
        }

        assertThat(through.await(2, TimeUnit.MINUTES)).isTrue();
    }

    /** A class initialiser keeps its thread on its carrier on every JDK, as {@code synchronized} does below 24. */
    private static void pinned() {
        try (InputStream code = BriefLockTests.class.getResourceAsStream("BriefLockTests$Pinned.class")) {
            MethodHandles.lookup().defineHiddenClass(code.readAllBytes(), true);
        } catch (IOException | IllegalAccessException failure) {
            throw new AssertionError(failure);
        }
    }

    /** Defined anew for each use. */
    @SuppressWarnings("unused")
    private static final class Pinned {
        static {
            pin.run();
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

        assertThat(locked).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(true);
    }
}
