package io.github.virtualthread.sample.lab.experiment;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Also remembers when each answer came, and how long it took. */
final class TimedTally extends Tally {

    private final long begin = System.nanoTime();
    private final Queue<double[]> points = new ConcurrentLinkedQueue<>();

    @Override
    public void answered(long nanoseconds) {
        super.answered(nanoseconds);
        points.add(new double[] {(System.nanoTime() - begin) / 1e9, nanoseconds / 1e6});
    }

    /** Seconds since the begin, and milliseconds. */
    List<double[]> points() {
        return List.copyOf(points);
    }
}
