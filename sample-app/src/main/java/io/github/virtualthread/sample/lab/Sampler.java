package io.github.virtualthread.sample.lab;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Looks at something again and again, on a thread of its own, until it is ended; then once more. */
public final class Sampler {

    private final Look look;
    private final long begin = System.nanoTime();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Thread thread;

    private Sampler(Duration interval, Look look) {
        this.look = look;
        // of the platform: one that has to wait for a carrier would not see what keeps the carriers busy
        this.thread = Thread.ofPlatform().daemon().name("lab-sampler").start(() -> sample(interval));
    }

    public static Sampler every(Duration interval, Look look) {
        return new Sampler(interval, look);
    }

    private void sample(Duration interval) {
        try {
            while (true) {
                look();
                Thread.sleep(interval);
            }
        } catch (InterruptedException stopped) {
            look();
        } finally {
            ended.complete(null);
        }
    }

    private void look() {
        look.at((System.nanoTime() - begin) / 1e9);
    }

    /** Ends it, without waiting for the last look. */
    public void stop() {
        thread.interrupt();
    }

    /** Ends it, after a last look. */
    public void end() {
        stop();
        ended.join();
    }

    /** What is to be seen at a time. */
    @FunctionalInterface
    public interface Look {
        void at(double seconds);
    }
}
