package io.github.virtualthread.sample.lab.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Two threads that wake each other in turns. */
final class PingPong {

    private final List<Thread> players = new ArrayList<>();
    private final CountDownLatch ready = new CountDownLatch(1);
    private volatile int turn;

    private PingPong() {}

    /** Nanoseconds for each time that one parks and the other one goes on. */
    static double nanosEach(Thread.Builder builder, int switches) throws InterruptedException {
        PingPong game = new PingPong();
        game.players.add(builder.unstarted(() -> game.play(0, switches)));
        game.players.add(builder.unstarted(() -> game.play(1, switches)));
        game.players.forEach(Thread::start);
        try {
            long begin = System.nanoTime();
            game.ready.countDown();
            for (Thread player : game.players) {
                player.join();
            }
            return (System.nanoTime() - begin) / (double) switches;
        } finally {
            game.players.forEach(Thread::interrupt);
        }
    }

    // shown
    private void play(int me, int switches) {
        try {
            ready.await();
            for (int i = me; i < switches; i += 2) {
                while (turn != i) {
                    LockSupport.park();
                    if (Thread.interrupted()) {
                        return;
                    }
                }
                turn = i + 1;
                LockSupport.unpark(players.get(1 - me));
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
    // shown
}
