package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** What became of the requests of {@link WebUsers}. Each is counted once, and only an answer in time is a success. Thread-safe. */
class Tally implements WebUsers.Outcomes {

    static final Column RATE = new Column("rate", "answered", "per second");
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
    public void rejected(long nanoseconds) {
        failed();
    }

    @Override
    public void timedOut() {
        timedOut.incrementAndGet();
    }

    int answered() {
        return answered.get();
    }

    /** Lets users come and go, and counts. */
    Measurement ask(WebUsers.Load load) throws Exception {
        return measured(WebUsers.ask(load, this, request -> {}));
    }

    /** The same, while a line of that name tells how many were answered so far. */
    Measurement ask(WebUsers.Load load, String line, Run run) throws Exception {
        Sampler sampler = Sampler.every(Duration.ofMillis(50), seconds -> run.point(line, seconds, answered()));
        try {
            return ask(load);
        } finally {
            sampler.end();
        }
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
