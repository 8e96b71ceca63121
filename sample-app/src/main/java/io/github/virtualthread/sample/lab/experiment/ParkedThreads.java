package io.github.virtualthread.sample.lab.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that do nothing but wait, until they are closed. */
final class ParkedThreads implements AutoCloseable {

    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();

    // shown
    /** Starts that many, and waits until all of them are parked. */
    void start(Thread.Builder builder, int number, int depth) throws InterruptedException {
        for (int i = 0; i < number; i++) {
            threads.add(builder.start(() -> {
                begun.incrementAndGet();
                park(depth);
            }));
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
    }

    /** Waits below that many more frames: the stack is what a parked thread keeps. */
    private void park(int depth) {
        if (depth > 0) {
            park(depth - 1);
            return;
        }
        try {
            release.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
    // shown

    int begun() {
        return begun.get();
    }

    @Override
    public void close() {
        release.countDown();
        boolean interrupted = false;
        for (Thread thread : threads) {
            interrupted |= !ended(thread);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for it; whether without an interrupt. */
    private static boolean ended(Thread thread) {
        boolean undisturbed = true;
        while (true) {
            try {
                thread.join();
                return undisturbed;
            } catch (InterruptedException later) {
                undisturbed = false;
            }
        }
    }
}
