package io.github.virtualthread.sample.lab.experiment;

import java.util.concurrent.locks.LockSupport;

/** Lets calls come at a steady rate. */
final class Pace {

    private Pace() {}

    /** Waits until {@link System#nanoTime()} is that far; returns at once if it is already. */
    static void await(long time) throws InterruptedException {
        for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }
}
