package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Queries through a driver that blocks inside {@code synchronized}, or in native code. A bean in the JVM of the experiment only. */
class PinningQueries {

    private final Optional<NativeSleep> nativeSleep = NativeSleep.find();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    // shown
    @VirtualThread("driver")
    CompletableFuture<Void> query(int millis, boolean inNativeCode) throws InterruptedException {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        try {
            if (inNativeCode) {
                nativeSleep.orElseThrow().millis(millis); // usleep of the C library
            } else {
                new Connection().query(millis); // nobody else has its monitor: no query waits for another one
            }
        } finally {
            running.decrementAndGet();
        }
        return completedFuture(null);
    }

    /** What a driver does that was written before there were virtual threads. */
    private static final class Connection {
        synchronized void query(int millis) throws InterruptedException {
            Thread.sleep(millis); // waits for the answer of the database
        }
    }
    // shown

    boolean canSleepInNativeCode() {
        return nativeSleep.isPresent();
    }

    /** Most queries that ran at once since it was asked last. */
    int most() {
        return most.getAndSet(0);
    }
}
