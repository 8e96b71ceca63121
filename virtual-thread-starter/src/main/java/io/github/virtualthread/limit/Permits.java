package io.github.virtualthread.limit;

import java.util.concurrent.Semaphore;

/** A semaphore that can shrink below the number of permits that are taken. Then permits must come back before one is free. */
@SuppressWarnings("serial")
final class Permits extends Semaphore {

    Permits(int permits) {
        super(permits);
    }

    void add(int delta) {
        if (delta > 0) {
            release(delta);
        } else {
            reducePermits(-delta);
        }
    }
}
