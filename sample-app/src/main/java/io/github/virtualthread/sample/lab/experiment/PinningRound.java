package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAccumulator;

/** As many queries under way as there were at the begin, until it is ended: when one is done, the next is called. */
final class PinningRound {

    static final Column RATE = new Column("rate", "queries", "per second");
    static final Column DONE = new Column("done", "done", "");
    static final Column FAILED = new Column("failed", "failed", "");
    static final Column AT_ONCE = new Column("atOnce", "most at once", "");
    static final Column CARRIERS = new Column("carriers", "carriers", "");

    private final PinningQueries queries;
    private final int millis;
    private final boolean inNativeCode;
    private final long begin = System.nanoTime();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final Latencies latencies = new Latencies();
    private final AtomicReferenceArray<CompletableFuture<Void>> calls;
    private final LongAccumulator lastDone = new LongAccumulator(Math::max, 0); // nanoseconds since the begin
    private volatile boolean ended;

    PinningRound(PinningQueries queries, int millis, boolean inNativeCode, int number) {
        this.queries = queries;
        this.millis = millis;
        this.inNativeCode = inNativeCode;
        this.calls = new AtomicReferenceArray<>(number);
        queries.most(); // forgets those of the last round
    }

    void begin() {
        for (int i = 0; i < calls.length(); i++) {
            call(i);
        }
    }

    private void call(int index) {
        long called = System.nanoTime();
        CompletableFuture<Void> call;
        try {
            call = queries.query(millis, inNativeCode);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException("The caller does not wait", impossible);
        }
        calls.set(index, call);
        var unused = call.whenComplete((nothing, failure) -> {
            if (!ended) {
                next(index, failure == null, called);
            }
        });
    }

    /** One that has failed is not followed by another: a driver that is broken would be called without end. */
    private void next(int index, boolean success, long called) {
        if (success) {
            long now = System.nanoTime();
            lastDone.accumulate(now - begin);
            latencies.add(now - called);
            done.incrementAndGet();
            call(index);
        } else {
            failed.incrementAndGet();
        }
    }

    int done() {
        return done.get();
    }

    /** Cancels what is under way, and tells what was done by then. */
    Measurement end() {
        ended = true;
        int number = done.get();
        // until the last one was done: they come in waves, and what is left of the time is a part of a wave
        double rate = number == 0 ? 0 : number / (lastDone.get() / 1e9);
        Measurement measured = latencies.addTo(Measurement.of(RATE.key(), rate)
                .and(DONE.key(), number)
                .and(FAILED.key(), failed.get())
                .and(AT_ONCE.key(), queries.most())
                .and(CARRIERS.key(), (double) PlatformThreads.count(PlatformThreads.CARRIERS)));
        for (int i = 0; i < calls.length(); i++) {
            calls.get(i).cancel(true); // one that is called at this very moment ends by itself
        }
        return measured;
    }
}
