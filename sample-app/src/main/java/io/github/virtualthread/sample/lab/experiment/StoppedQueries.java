package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Waves of {@link SlowQueries} that are stopped, while other callers ask for short queries. */
final class StoppedQueries {

    static final Column MOST = new Column("most", "queries in the server, most at once", "");
    static final Column LEFT = new Column("left", "still there when all permits were back", "");
    static final Column LOST = new Column("lost", "sessions lost", "");
    static final Column BACK = new Column("back", "permit back after, median", "ms");
    static final Column BACK_99 = new Column("back99", "permit back after, 99th percentile", "ms");
    static final Column BACK_LAST = new Column("backLast", "permit back after, maximum", "ms");
    static final Column QUICK = new Column("quick", "short queries of others", "per second");
    static final Column QUICK_FAILED = new Column("quickFailed", "short queries of others, failed", "");

    /** From the begin of a wave to that of the next. */
    static final Duration INTERVAL = Duration.ofMillis(500);

    /** Callers of short queries, each with one at a time. */
    static final int OTHERS = 2;

    private static final Duration PAUSE = Duration.ofMillis(10);

    private final SlowQueries queries;
    private final Slow slow;
    private final TaskLimit limit;
    private final RunningQueries server;
    private final Latencies held = new Latencies();
    private final List<CompletableFuture<?>> calls = new ArrayList<>();
    private final AtomicInteger quick = new AtomicInteger();
    private final AtomicInteger quickFailed = new AtomicInteger();

    StoppedQueries(SlowQueries queries, Slow slow, TaskLimit limit, RunningQueries server) {
        this.queries = queries;
        this.slow = slow;
        this.limit = limit;
        this.server = server;
    }

    /** Blocks until all permits are back and the server has no query left. */
    Measurement measure(Run run, int waves) throws InterruptedException {
        List<Thread> others = new ArrayList<>();
        long begin = System.nanoTime();
        try {
            for (int i = 0; i < OTHERS; i++) {
                others.add(Thread.ofVirtual().name("lab-others-" + i).start(this::askAgainAndAgain));
            }
            for (int wave = 0; wave < waves; wave++) {
                Pace.await(begin + wave * INTERVAL.toNanos());
                for (int i = 0; i < run.get("connections"); i++) {
                    calls.add(slow.call(queries, held));
                }
            }
            Pace.await(begin + waves * INTERVAL.toNanos());
            double seconds = (System.nanoTime() - begin) / 1e9;
            end(others);
            awaitPermits();
            int left = server.count();
            server.awaitNone();
            return held.addTo(
                    Measurement.of(MOST.key(), server.most())
                            .and(LEFT.key(), left)
                            .and(QUICK.key(), quick.get() / seconds)
                            .and(QUICK_FAILED.key(), quickFailed.get()),
                    BACK,
                    BACK_99,
                    BACK_LAST);
        } finally {
            others.forEach(Thread::interrupt);
            calls.forEach(call -> call.cancel(true));
        }
    }

    /** A call of a slow query. */
    @FunctionalInterface
    interface Slow {
        CompletableFuture<Void> call(SlowQueries queries, Latencies held);
    }

    private void askAgainAndAgain() {
        try {
            while (true) {
                try {
                    queries.quick().get();
                    quick.incrementAndGet();
                } catch (ExecutionException failed) {
                    quickFailed.incrementAndGet();
                }
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException ended) {
            // its query ends by itself
        }
    }

    private static void end(List<Thread> others) throws InterruptedException {
        for (Thread each : others) {
            each.interrupt();
            each.join();
        }
    }

    private void awaitPermits() throws InterruptedException {
        while (limit.available() < limit.permits() || limit.waiting() > 0) {
            Thread.sleep(1);
        }
    }
}
