package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Calls whose timeout passes while the database runs their query: interrupted, or with their statement cancelled. */
@Component
@Order(110)
class DatabaseStops implements Experiment {

    static final String INTERRUPT = "timeout interrupts the call";
    static final String STATEMENT = "timeout cancels the statement";

    static final String QUERY_TIMEOUT = "query timeout of JDBC, 1 s";

    static final String NEVER = "Never more than the permits";
    static final String BY_INTERRUPT = "More than the permits, if the timeout only interrupts";
    static final String ALWAYS = "More than the permits, either way";

    static final String H2_SHOWS_NOTHING = "H2 runs each query on the thread of its call, so this is no verdict.";

    private static final String LIMIT = "scarce";

    private final SlowQueries queries;
    private final ScarcePool pool;
    private final RealServer real;
    private final TaskLimits limits;
    private final String timeout;

    DatabaseStops(
            SlowQueries queries,
            @Qualifier("scarcePool") ScarcePool pool,
            RealServer real,
            TaskLimits limits,
            @Value("${scarce.timeout}") String timeout) {
        this.queries = queries;
        this.pool = pool;
        this.real = real;
        this.limits = limits;
        this.timeout = timeout;
    }

    @Override
    public About about() {
        return new About(
                "database-stops",
                Act.LIMIT_THE_RESOURCE,
                "A stop that reaches the database",
                "Queries take longer than the timeout of their calls. How many run in the database at once, beside the permits of the"
                        + " limit? " + real.announced(),
                List.of(NEVER, BY_INTERRUPT, ALWAYS),
                List.of(
                        new Parameter("connections", "Connections and permits", "", 1, 10, 4, 4),
                        new Parameter("waves", "Waves of as many calls, two per second", "", 1, 20, 6, 4),
                        new Parameter("seconds", "A query takes", "s", 1, 10, 3, 2),
                        Parameter.ROUNDS),
                "What a query costs the database: this one only waits. A real one that goes on keeps using processor, disk and"
                        + " locks. Nor does it show transactions, cursors and other databases.",
                Source.of(SlowQueries.class),
                """
                virtual-thread:
                  limits:
                    scarce:
                      permits-from: scarcePool
                  jdbc:
                    cancel-statements: true""",
                "",
                35,
                10,
                "queries in the server");
    }

    @Override
    public Answer run(Run run) throws Exception {
        int permits = run.get("connections");
        run.progress(0, "Starting the database");
        ScarceServer server = real.get();
        Map<String, Line> drawn = new LinkedHashMap<>();
        try {
            pool.resize(permits);
            limits.get(LIMIT).resize(permits); // it follows its pool, but only every few seconds
            List<Row> rows = run.compare(List.of(
                    contender(INTERRUPT, server, run, drawn),
                    contender(STATEMENT, server, run, drawn),
                    contender(QUERY_TIMEOUT, server, run, drawn)));
            String why = server.isInThisJvm() ? H2_SHOWS_NOTHING : "";
            return new Answer(
                            sentence(rows, permits, why),
                            List.of(
                                    StoppedQueries.MOST,
                                    StoppedQueries.LEFT,
                                    StoppedQueries.LOST,
                                    StoppedQueries.BACK,
                                    StoppedQueries.BACK_LAST,
                                    StoppedQueries.QUICK,
                                    StoppedQueries.QUICK_FAILED),
                            rows,
                            List.of(new Chart(
                                    "Queries that the server runs", "seconds", "queries", List.copyOf(drawn.values()))),
                            notes(rows, run, server))
                    .withRight(why.isEmpty() ? right(rows, permits) : "", why);
        } finally {
            pool.reset();
            limits.get(LIMIT).resize(pool.connections());
        }
    }

    private Contender contender(String name, ScarceServer server, Run run, Map<String, Line> drawn) {
        return new Contender(
                name,
                () -> measure(name, server, run, 1, (lines, trial) -> lines.during(trial)),
                () -> measure(name, server, run, run.get("waves"), (lines, trial) -> {
                    Measurement measured = lines.whileDrawn(run, trial);
                    drawn.put(name, lines.lines().getFirst());
                    Line permits = lines.lines().getLast();
                    drawn.merge(Line.PERMITS, permits, DatabaseStops::longer);
                    return measured;
                }));
    }

    /** With a pool of its own, and not before the server is done with the queries of earlier ones. */
    private Measurement measure(String name, ScarceServer server, Run run, int waves, Drawing drawing)
            throws Exception {
        TaskLimit limit = limits.get(LIMIT);
        try (RunningQueries running = RunningQueries.of(server)) {
            running.awaitNone();
            OpenedSessions sessions = pool.open(server, name.equals(STATEMENT));
            CountedLines lines = new CountedLines(System.nanoTime())
                    .with(name, running::count)
                    .with(Line.PERMITS, limit::permits);
            Measurement measured =
                    drawing.draw(lines, () -> new StoppedQueries(queries, slow(name, server, run), limit, running)
                            .measure(run, waves));
            pool.borrowAll();
            return measured.and(StoppedQueries.LOST.key(), sessions.count() - pool.connections());
        }
    }

    private static StoppedQueries.Slow slow(String name, ScarceServer server, Run run) {
        String query = server.slowQuery().formatted(run.get("seconds"));
        return name.equals(QUERY_TIMEOUT)
                ? (queries, held) -> queries.slowUntilQueryTimeout(query, held)
                : (queries, held) -> queries.slow(query, held);
    }

    private static Line longer(Line one, Line other) {
        return one.points().getLast()[0] < other.points().getLast()[0] ? other : one;
    }

    /**
     * The answer.
     *
     * @param why why there is no verdict; empty where there is one
     */
    static String sentence(List<Row> rows, int permits, String why) {
        Row interrupt = Row.named(rows, INTERRUPT);
        Row statement = Row.named(rows, STATEMENT);
        Row query = Row.named(rows, QUERY_TIMEOUT);
        return ("With %d permits, the server ran up to %s queries at once when the timeout interrupted the call, and up to %s when it"
                        + " cancelled the statement. %s Sessions lost: %s and %s. The median permit was back after %s and %s; with a query timeout of JDBC,"
                        + " which counts whole seconds, after %s, and the server ran up to %s.")
                .formatted(
                        permits,
                        number(most(interrupt)),
                        number(most(statement)),
                        why.isEmpty() ? verdict(rows, permits) : why,
                        number(interrupt.median(StoppedQueries.LOST.key())),
                        number(statement.median(StoppedQueries.LOST.key())),
                        back(interrupt),
                        back(statement),
                        back(query),
                        number(most(query)));
    }

    private static String verdict(List<Row> rows, int permits) {
        return switch (right(rows, permits)) {
            case NEVER -> "The limit held in the database either way.";
            case BY_INTERRUPT -> "The interrupt alone did not keep the limit in the database.";
            case ALWAYS -> "The limit did not hold in the database either way.";
            default -> "The limit held in the database with the interrupt, but not with the cancelled statement.";
        };
    }

    /** Of all rounds: one that exceeds the permits is enough. */
    private static double most(Row row) {
        return row.figures().get(StoppedQueries.MOST.key()).max();
    }

    private static String back(Row row) {
        return number(Math.rint(row.median(StoppedQueries.BACK.key()))) + " ms";
    }

    /** None where it was worse with the cancelled statement. */
    static String right(List<Row> rows, int permits) {
        boolean interrupt = most(Row.named(rows, INTERRUPT)) <= permits;
        boolean statement = most(Row.named(rows, STATEMENT)) <= permits;
        if (interrupt) {
            return statement ? NEVER : "";
        }
        return statement ? BY_INTERRUPT : ALWAYS;
    }

    private List<String> notes(List<Row> rows, Run run, ScarceServer server) {
        return List.of(
                "The database is %s. %s".formatted(server.product(), server.aboutStops()),
                "Every %d ms a wave of %d calls came, %d waves in all. Their query takes %d s, and their timeout is %s. The query timeout of JDBC is that of JdbcTemplate, on calls without a timeout."
                        .formatted(
                                StoppedQueries.INTERVAL.toMillis(),
                                run.get("connections"),
                                run.get("waves"),
                                run.get("seconds"),
                                timeout),
                "The server was asked every %d ms on a connection of its own: %s. It may have run more in between."
                        .formatted(CountedLines.INTERVAL.toMillis(), server.running()),
                left(rows),
                "A session is lost if the pool had to replace its connection. A permit is back when the body of the call has ended,"
                        + " counted from its begin, with the wait for a connection.",
                "Under the same limit %d other callers asked for short queries, one after the other. Load and database share %d cores."
                        .formatted(StoppedQueries.OTHERS, Runtime.getRuntime().availableProcessors()));
    }

    /** What the permits knew of the queries. */
    static String left(List<Row> rows) {
        double interrupt = mostLeft(rows, INTERRUPT);
        double statement = mostLeft(rows, STATEMENT);
        return interrupt == 0 && statement == 0
                ? "When all permits were back, no query was left in the server."
                : ("When all permits were back, up to %s queries were left in the server with the interrupt, and up to %s with the"
                                + " cancelled statement. The limit did not count these any more.")
                        .formatted(number(interrupt), number(statement));
    }

    private static double mostLeft(List<Row> rows, String name) {
        return Row.named(rows, name).figures().get(StoppedQueries.LEFT.key()).max();
    }

    /** Runs a trial while lines are drawn. */
    @FunctionalInterface
    private interface Drawing {
        Measurement draw(CountedLines lines, Contender.Trial trial) throws Exception;
    }
}
