package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Also counts the users who wait, and those who are refused with the time they had waited by then. */
class DoorTally extends Tally {

    static final Column REFUSED = new Column("refused", "refused", "per second");
    static final Column TOLD = new Column("told", "refused after, median", "ms");
    static final Column TOLD_99 = new Column("told99", "refused after, 99th percentile", "ms");
    static final Column TOLD_LAST = new Column("toldLast", "refused after, maximum", "ms");

    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Latencies refusals = new Latencies();

    @Override
    public void asked() {
        waiting.incrementAndGet();
    }

    @Override
    public void answered(long nanoseconds) {
        waiting.decrementAndGet();
        super.answered(nanoseconds);
    }

    @Override
    public void rejected(long nanoseconds) {
        waiting.decrementAndGet();
        refusals.add(nanoseconds);
        refused.incrementAndGet();
    }

    @Override
    public void failed() {
        waiting.decrementAndGet();
        super.failed();
    }

    @Override
    public void timedOut() {
        waiting.decrementAndGet();
        super.timedOut();
    }

    int refused() {
        return refused.get();
    }

    int waiting() {
        return waiting.get();
    }

    /**
     * Adds the refused.
     *
     * @param asked time in which users asked
     */
    Measurement addTo(Measurement measured, Duration asked) {
        return refusals.addTo(
                measured.and(REFUSED.key(), refused.get() * 1e9 / asked.toNanos()), TOLD, TOLD_99, TOLD_LAST);
    }
}
