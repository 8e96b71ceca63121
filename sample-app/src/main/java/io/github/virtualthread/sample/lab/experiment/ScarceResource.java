package io.github.virtualthread.sample.lab.experiment;

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
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Many users and few connections: who waits where, and what fails. */
@Component
@Order(50)
class ScarceResource implements Experiment {

    static final String POOL = "200 platform threads";
    static final String UNLIMITED = "virtual threads, no limit";
    static final String PATIENT = "virtual threads, no limit, connection timeout 30 s";
    static final String HASTY = "virtual threads, no limit, connection timeout = max-wait";
    static final String CONCURRENCY_LIMIT = "@ConcurrencyLimit of Spring";
    static final String VIRTUAL = "@VirtualThread with a limit";
    static final String LIMITED = "@Limited";
    static final String VIRTUAL_BOUNDED = "@VirtualThread, max-wait";
    static final String LIMITED_BOUNDED = "@Limited, max-wait";

    static final String FASTER = "Virtual threads are faster here too";
    static final String EQUALLY_FAST = "All are equally fast, but without a limit calls fail";
    static final String SLOWER = "The limit makes it slower";

    private static final String LIMIT = "scarce";
    private static final int WARM_UP_USERS = 20;

    /** HikariCP takes no shorter timeout, in milliseconds. */
    private static final int SHORTEST = 250;

    /** HikariCP's own default. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Column RATE = new Column("rate", "queries", "per second");
    private static final Column DONE = new Column("done", "done", "");
    private static final Column REJECTED = new Column("rejected", "rejected by the limit", "");
    private static final Column FAILED = new Column("failed", "failed", "");

    private final WebServerApplicationContext context;
    private final ScarceRequests requests;
    private final ScarcePool pool;
    private final TaskLimits limits;

    ScarceResource(
            WebServerApplicationContext context,
            ScarceRequests requests,
            @Qualifier("scarcePool") ScarcePool pool,
            TaskLimits limits) {
        this.context = context;
        this.requests = requests;
        this.pool = pool;
        this.limits = limits;
    }

    @Override
    public About about() {
        return new About(
                "scarce-resource",
                Act.THE_QUEUE_HAS_MOVED,
                "A scarce resource",
                "Many users ask at once for more than a database with few connections can serve. Who waits, and what fails?",
                List.of(FASTER, EQUALLY_FAST, SLOWER),
                List.of(
                        new Parameter("users", "Users", "", 1, 5_000, 600, 300),
                        new Parameter("connections", "Connections", "", 10, 150, 100, 100),
                        new Parameter("millis", "A query takes", "ms", 1, Requests.LONGEST, 250, 250),
                        new Parameter("timeout", "Wait for a connection", "ms", 250, 30_000, 1_000, 400),
                        new Parameter("wait", "max-wait of the limit", "ms", 1, 60_000, 500, 300),
                        Parameter.ROUNDS),
                "What a database does under this load: it is %s here, and the query only sleeps. A limit adds no capacity: it"
                                .formatted(pool.product())
                        + " decides who waits and what fails.",
                Source.of(ScarceQueries.class) + "\n\n" + Source.of(ScarceRequests.class),
                """
                scarce:
                  connections: 100
                virtual-thread:
                  limits:
                    scarce:
                      permits-from: scarcePool""",
                LIMIT,
                40,
                20,
                "calls");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Duration waitBefore = limits.get(LIMIT).maxWait();
        try {
            resize(run.get("connections"));
            Map<String, Chart> charts = new LinkedHashMap<>();
            List<Row> rows = run.compare(
                    ways(run).stream().map(way -> contender(way, run, charts)).toList());
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, run.get("users")),
                            List.of(
                                    RATE,
                                    DONE,
                                    REJECTED,
                                    FAILED,
                                    Tally.TIMED_OUT,
                                    Latencies.P50,
                                    Latencies.P99,
                                    Latencies.MOST,
                                    Tally.BUSY),
                            rows,
                            List.copyOf(charts.values()),
                            notes(run.get("timeout")))
                    .withRight(right(rows, ranges), ranges.open());
        } finally {
            pool.reset();
            resize(pool.connections());
            limits.get(LIMIT).setMaxWait(waitBefore);
        }
    }

    private void resize(int connections) {
        pool.resize(connections);
        limits.get(LIMIT).resize(connections); // it follows its pool, but only every few seconds
        requests.renew();
    }

    private static List<Way> ways(Run run) {
        Duration timeout = Duration.ofMillis(run.get("timeout"));
        Duration wait = Duration.ofMillis(run.get("wait"));
        return List.of(
                new Way(POOL, "plain", timeout, null),
                new Way(UNLIMITED, "plain", timeout, null),
                new Way(PATIENT, "plain", PATIENCE, null),
                new Way(HASTY, "plain", Duration.ofMillis(Math.max(SHORTEST, run.get("wait"))), null),
                new Way(CONCURRENCY_LIMIT, "concurrency-limit", timeout, null),
                new Way(VIRTUAL, "virtual", timeout, null),
                new Way(LIMITED, "limited", timeout, null),
                new Way(VIRTUAL_BOUNDED, "virtual", timeout, wait),
                new Way(LIMITED_BOUNDED, "limited", timeout, wait));
    }

    private Contender contender(Way way, Run run, Map<String, Chart> charts) {
        int millis = run.get("millis");
        return new Contender(way.name(), () -> measure(way, WARM_UP_USERS, millis, new Crowd()), () -> {
            Crowd crowd = new Crowd();
            Measurement measured = crowd.whileDrawn(run, () -> measure(way, run.get("users"), millis, crowd));
            charts.put(way.name(), crowd.chart(way.name()));
            return measured;
        });
    }

    private Measurement measure(Way way, int count, int millis, Crowd crowd) throws Exception {
        pool.waitFor(way.timeout());
        limits.get(LIMIT).setMaxWait(way.maxWait());
        ScarceUsers users = new ScarceUsers(crowd);
        WebUsers.Spent spent = ask(way, users, count, millis);
        return crowd.latencies()
                .addTo(Measurement.of(RATE.key(), crowd.count(Crowd.DONE) / spent.seconds())
                        .and(DONE.key(), crowd.count(Crowd.DONE))
                        .and(REJECTED.key(), crowd.count(Crowd.REJECTED))
                        .and(FAILED.key(), crowd.count(Crowd.FAILED) - users.timeOuts())
                        .and(Tally.TIMED_OUT.key(), users.timeOuts())
                        .and(Tally.BUSY.key(), spent.busy() * 100));
    }

    private WebUsers.Spent ask(Way way, ScarceUsers users, int count, int millis) throws Exception {
        // of its own each time: what is still served when the users are gone ends with it
        try (Doors doors = Doors.open(context.getWebServer())) {
            try {
                int port = way.name().equals(POOL) ? doors.platform() : doors.virtual();
                return users.ask(port, "/lab/scarce/%s?millis=%d".formatted(way.path(), millis), count);
            } finally {
                limits.evictWaiting(LIMIT);
                doors.awaitAnswers(Duration.ofMillis(Requests.LONGEST));
            }
        }
    }

    static String sentence(List<Row> rows, int users) {
        Row unlimited = Row.named(rows, UNLIMITED);
        Row limited = Row.named(rows, VIRTUAL);
        Row bounded = Row.named(rows, VIRTUAL_BOUNDED);
        return ("Of %,d requests, %s failed without a limit, and %s with @VirtualThread and a limit. %,.0f and %,.0f queries per"
                        + " second were done, the slowest within %s and %s. With a max-wait as well, %s were rejected, and the"
                        + " slowest of the others was done within %s.")
                .formatted(
                        users,
                        failures(unlimited),
                        failures(limited),
                        unlimited.median(RATE.key()),
                        limited.median(RATE.key()),
                        slowest(unlimited),
                        slowest(limited),
                        count(bounded.median(REJECTED.key())),
                        slowest(bounded));
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row pool = Row.named(rows, POOL);
        Row unlimited = Row.named(rows, UNLIMITED);
        Row limited = Row.named(rows, VIRTUAL);
        if (ranges.isMore(unlimited, limited, RATE)) {
            return SLOWER;
        }
        if (ranges.isMore(unlimited, pool, RATE)) {
            return FASTER;
        }
        boolean equal = ranges.isAlike(pool, unlimited, RATE) && ranges.isAlike(limited, unlimited, RATE);
        return equal && failed(unlimited) > 0 ? EQUALLY_FAST : "";
    }

    private static double failed(Row row) {
        return row.median(FAILED.key()) + row.median(Tally.TIMED_OUT.key());
    }

    /** A user who has waited in vain was not served either. */
    private static String failures(Row row) {
        double timedOut = row.median(Tally.TIMED_OUT.key());
        String failures = count(failed(row));
        return timedOut == 0 ? failures : "%s (%s by time-out)".formatted(failures, count(timedOut));
    }

    private static String count(double count) {
        return count == 0 ? "none" : "%,.0f".formatted(count);
    }

    private static String slowest(Row row) {
        return row.figures().containsKey(Latencies.MOST.key())
                ? "%,.0f ms".formatted(row.median(Latencies.MOST.key()))
                : "no time that could be measured";
    }

    private List<String> notes(int timeout) {
        return List.of(
                "The database is %s. Load generator, server and database share %d cores."
                        .formatted(pool.product(), Runtime.getRuntime().availableProcessors()),
                "A user is one HTTP request on its own connection. All users come at once and ask once. The pool of %d is Tomcat's."
                        .formatted(Doors.PLATFORM_THREADS),
                "A request that gets no connection within %,d ms fails with 500; one contender waits for 30 s, HikariCP's default, and one as long as max-wait."
                        .formatted(timeout),
                "A request that the limit rejects gets 503. A user who"
                        + " waits longer than %d s has timed out, which is not a success; the chart counts it as failed."
                                .formatted(ScarceUsers.LONGEST.toSeconds()),
                "Times cover the requests that were done, as users see them.");
    }

    /**
     * One way to ask.
     *
     * @param path what is asked for
     * @param timeout longest wait for a connection
     * @param maxWait longest wait for a permit, null for any time
     */
    private record Way(String name, String path, Duration timeout, Duration maxWait) {}
}
