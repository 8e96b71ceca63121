package io.github.virtualthread.limit;

import java.util.concurrent.Semaphore;

/** A semaphore that can shrink below what is taken: then as many have to come back before one is given out. */
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
