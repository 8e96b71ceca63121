package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import java.util.concurrent.atomic.AtomicInteger;

/** What became of the requests of {@link WebUsers}. Each is counted once, and only an answer in time is a success. Thread-safe. */
class Tally implements WebUsers.Outcomes {

    static final Column RATE = new Column("rate", "answered", "a second");
    static final Column ANSWERED = new Column("answered", "answered", "");
    static final Column FAILED = new Column("failed", "failed", "");
    static final Column TIMED_OUT = new Column("timedOut", "timed out", "");
    static final Column BUSY = new Column("busy", "load generator busy", "%");

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicInteger timedOut = new AtomicInteger();
    private final Latencies latencies = new Latencies();

    @Override
    public void answered(long nanoseconds) {
        latencies.add(nanoseconds);
        answered.incrementAndGet();
    }

    @Override
    public void failed() {
        failed.incrementAndGet();
    }

    @Override
    public void rejected() {
        failed();
    }

    @Override
    public void timedOut() {
        timedOut.incrementAndGet();
    }

    int answered() {
        return answered.get();
    }

    /** The times are of those that were answered. */
    Measurement measured(WebUsers.Spent spent) {
        return latencies.addTo(Measurement.of(RATE.key(), answered.get() / spent.seconds())
                .and(ANSWERED.key(), answered.get())
                .and(FAILED.key(), failed.get())
                .and(TIMED_OUT.key(), timedOut.get())
                .and(BUSY.key(), spent.busy() * 100));
    }
}
