package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Many users and few connections: who waits where, and what fails. */
@Component
@Order(5)
class ScarceResource implements Experiment {

    static final String POOL = "200 platform threads";
    static final String UNLIMITED = "virtual threads, no limit";
    static final String PATIENT = "the same, waiting longer for a connection";
    static final String CONCURRENCY_LIMIT = "@ConcurrencyLimit of Spring";
    static final String VIRTUAL = "@VirtualThread with a limit";
    static final String LIMITED = "@Limited";
    static final String VIRTUAL_BOUNDED = "@VirtualThread, max-wait";
    static final String LIMITED_BOUNDED = "@Limited, max-wait";

    private static final String LIMIT = "scarce";
    private static final int WARM_UP_USERS = 20;

    private static final Column RATE = new Column("rate", "queries", "a second");
    private static final Column DONE = new Column("done", "done", "");
    private static final Column REJECTED = new Column("rejected", "rejected by the limit", "");
    private static final Column FAILED = new Column("failed", "failed for want of a connection", "");

    private final ScarceQueries queries;
    private final ScarcePool pool;
    private final TaskLimits limits;

    ScarceResource(ScarceQueries queries, @Qualifier("scarcePool") ScarcePool pool, TaskLimits limits) {
        this.queries = queries;
        this.pool = pool;
        this.limits = limits;
    }

    @Override
    public About about() {
        return new About(
                "scarce-resource",
                "5",
                Act.THE_QUEUE_HAS_MOVED,
                "A scarce resource",
                "Many users ask a database with %d connections at once. Who waits, and what fails?"
                        .formatted(pool.connections()),
                List.of(
                        "Virtual threads are faster here too",
                        "All are equally fast, but without a limit calls fail",
                        "The limit makes it slower"),
                List.of(
                        new Parameter("users", "Users", "", 1, 5_000, 600, 300),
                        new Parameter("millis", "A query takes", "ms", 1, 5_000, 250, 250),
                        new Parameter("timeout", "Wait for a connection", "ms", 250, 60_000, 1_000, 400),
                        new Parameter("wait", "max-wait of the limit", "ms", 1, 60_000, 500, 300),
                        Parameter.ROUNDS),
                "What a real server does under this load: it is H2 in this JVM, and its query only sleeps. A limit adds no"
                        + " capacity: it decides who waits and what fails.",
                Source.of(ScarceQueries.class),
                """
                scarce:
                  connections: 100
                virtual-thread:
                  limits:
                    scarce:
                      permits-from: scarcePool""",
                LIMIT);
    }

    @Override
    public Answer run(Run run) throws Exception {
        TaskLimit limit = limits.get(LIMIT);
        Duration waitBefore = limit.maxWait();
        try {
            Map<String, Chart> charts = new LinkedHashMap<>();
            List<Row> rows = run.compare(
                    ways(run).stream().map(way -> contender(way, run, charts)).toList());
            return new Answer(
                    sentence(rows),
                    List.of(RATE, DONE, REJECTED, FAILED, Latencies.P50, Latencies.P99, Latencies.MOST),
                    rows,
                    List.copyOf(charts.values()),
                    List.of(
                            "A user is a call of the service here, each on a thread of its own; there is no HTTP between.",
                            "The times are of those that were done, from the call on."));
        } finally {
            limit.setMaxWait(waitBefore);
            pool.reset();
        }
    }

    private List<Way> ways(Run run) {
        int millis = run.get("millis");
        Duration timeout = Duration.ofMillis(run.get("timeout"));
        Duration longer = timeout.multipliedBy(10);
        Duration wait = Duration.ofMillis(run.get("wait"));
        Callable<ExecutorService> virtual = Executors::newVirtualThreadPerTaskExecutor;
        return List.of(
                new Way(POOL, () -> Executors.newFixedThreadPool(200), timeout, null, () -> queries.query(millis)),
                new Way(UNLIMITED, virtual, timeout, null, () -> queries.query(millis)),
                new Way(PATIENT, virtual, longer, null, () -> queries.query(millis)),
                new Way(CONCURRENCY_LIMIT, virtual, timeout, null, () -> queries.concurrencyLimited(millis)),
                new Way(VIRTUAL, virtual, timeout, null, () -> queries.virtual(millis)
                        .get()),
                new Way(LIMITED, virtual, timeout, null, () -> queries.limited(millis)),
                new Way(VIRTUAL_BOUNDED, virtual, timeout, wait, () -> queries.virtual(millis)
                        .get()),
                new Way(LIMITED_BOUNDED, virtual, timeout, wait, () -> queries.limited(millis)));
    }

    private Contender contender(Way way, Run run, Map<String, Chart> charts) {
        return new Contender(way.name(), () -> measure(way, WARM_UP_USERS, new Crowd()), () -> {
            Crowd crowd = new Crowd();
            Measurement measured = crowd.whileDrawn(run, () -> measure(way, run.get("users"), crowd));
            charts.put(way.name(), crowd.chart(way.name()));
            return measured;
        });
    }

    private Measurement measure(Way way, int users, Crowd crowd) throws Exception {
        pool.waitFor(way.timeout());
        limits.get(LIMIT).setMaxWait(way.maxWait());
        List<Callable<Void>> calls = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < users; i++) {
            calls.add(() -> crowd.enter(way.call(), begin));
        }
        ExecutorService executor = way.executor().call();
        try {
            executor.invokeAll(calls);
            double seconds = (System.nanoTime() - begin) / 1e9;
            return crowd.latencies()
                    .addTo(Measurement.of(RATE.key(), crowd.done() / seconds)
                            .and(DONE.key(), crowd.done())
                            .and(REJECTED.key(), crowd.rejected())
                            .and(FAILED.key(), crowd.failed()));
        } finally {
            executor.shutdownNow();
        }
    }

    private static String sentence(List<Row> rows) {
        Row unlimited = Row.named(rows, UNLIMITED);
        Row limited = Row.named(rows, VIRTUAL);
        Row bounded = Row.named(rows, VIRTUAL_BOUNDED);
        return ("Without a limit %,.0f calls failed for want of a connection, with one %,.0f, at %,.0f and %,.0f queries a"
                        + " second; the slowest took %s and %s ms. With max-wait %,.0f were rejected, and the slowest took %s ms.")
                .formatted(
                        unlimited.median(FAILED.key()),
                        limited.median(FAILED.key()),
                        unlimited.median(RATE.key()),
                        limited.median(RATE.key()),
                        slowest(unlimited),
                        slowest(limited),
                        bounded.median(REJECTED.key()),
                        slowest(bounded));
    }

    private static String slowest(Row row) {
        return row.figures().containsKey(Latencies.MOST.key())
                ? "%,.0f".formatted(row.median(Latencies.MOST.key()))
                : "no call was done, so no";
    }

    /** What became of a call that failed. */
    static boolean isRejection(Throwable failure) {
        Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
        return cause instanceof LimitExceededException;
    }

    /**
     * One way to ask.
     *
     * @param timeout longest wait for a connection
     * @param maxWait longest wait for a permit, null for any time
     */
    private record Way(
            String name, Callable<ExecutorService> executor, Duration timeout, Duration maxWait, Crowd.Call call) {}
}
