package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Measurement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Requests that each want a slow partner to be called, and what became of those calls. Thread-safe. */
class Flood {

    static final Column DONE = new Column("done", "really done", "");
    static final Column REJECTED = new Column("rejected", "rejected, client not told", "");
    static final Column LEFT = new Column("left", "unfinished at the end", "");
    static final Column LATE = new Column("late", "done after the client left", "");

    private final int requests;
    private final Duration partner;
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger rejected = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final AtomicIntegerArray gone;
    private final CountDownLatch unsettled;
    private final Queue<Future<?>> calls = new ConcurrentLinkedQueue<>();

    Flood(int requests, Duration partner) {
        this.requests = requests;
        this.partner = partner;
        this.gone = new AtomicIntegerArray(requests);
        this.unsettled = new CountDownLatch(requests);
    }

    /** Requests that no experiment made: they all have the number 0, and are counted only. */
    static Flood fromOutside() {
        return new Flood(1, Duration.ofMillis(200)) {
            @Override
            void keep(Future<?> call) {}
        };
    }

    int requests() {
        return requests;
    }

    /** The server has taken a request. */
    void accept() {
        accepted.incrementAndGet();
    }

    /** The partner is not called for this request. */
    void reject() {
        rejected.incrementAndGet();
        unsettled.countDown();
    }

    /** A call that has to be ended with the rest. */
    void keep(Future<?> call) {
        calls.add(call);
    }

    /** Takes its time. */
    void callPartner(int request) {
        try {
            Thread.sleep(partner);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return;
        }
        partnerAnswered(request);
    }

    /** How long the partner takes. */
    Duration partner() {
        return partner;
    }

    /** Without a thread of the caller. */
    void partnerAnswered(int request) {
        if (gone.get(request) == 1) {
            late.incrementAndGet();
        }
        done.incrementAndGet();
        unsettled.countDown();
    }

    /** The client of this request has its answer, or waits for it no longer. */
    void clientIsGone(int request) {
        gone.set(request, 1);
    }

    /** Waits until each call is done or rejected, or the time is over. */
    void await(long nanos) throws InterruptedException {
        boolean unused = unsettled.await(nanos, TimeUnit.NANOSECONDS);
    }

    /** Ends the calls that were kept; the last ones first, so that none begins in place of one that ends. */
    void end() {
        new ArrayList<>(calls).reversed().forEach(call -> call.cancel(true));
    }

    int done() {
        return done.get();
    }

    int rejected() {
        return rejected.get();
    }

    Counts counts() {
        // in this order: a request is accepted before it is done or rejected
        int ended = done();
        int refused = rejected();
        int taken = accepted.get();
        return new Counts(taken, ended, refused, taken - ended - refused);
    }

    int backlog() {
        return counts().backlog();
    }

    Measurement addTo(Measurement measurement) {
        Counts counts = counts(); // once: calls may still end, and each has to be found in one place
        return measurement
                .and(DONE.key(), counts.done())
                .and(REJECTED.key(), counts.rejected())
                .and(LEFT.key(), counts.backlog())
                .and(LATE.key(), late.get());
    }

    static List<Column> columns() {
        return List.of(DONE, REJECTED, LEFT, LATE);
    }

    /**
     * So far.
     *
     * @param accepted requests that the server has taken
     * @param done calls of the partner
     * @param rejected calls there was no place for
     * @param backlog calls that wait or run
     */
    record Counts(int accepted, int done, int rejected, int backlog) {}
}
