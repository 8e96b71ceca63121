package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Web requests whose clients leave while the database runs their queries, with each of two properties, with both and with neither. */
@Component
@Order(115)
class ClientGone implements Experiment {

    static final String NEITHER = "neither property";
    static final String STATEMENTS = "cancel-statements";
    static final String ABANDONED = "cancel-abandoned";
    static final String BOTH = "both properties";

    static final String ALL_ARE_DONE = "Until all queries are done, in any case";
    static final String ALONE = "For a moment with cancel-abandoned alone";
    static final String TOGETHER = "For a moment only with both properties";

    private final RealServer real;

    ClientGone(RealServer real) {
        this.real = real;
    }

    @Override
    public About about() {
        return new About(
                "client-gone",
                Act.LIMIT_THE_RESOURCE,
                "The client has gone",
                "Clients ask for a slow query and leave. How long does the database go on for nobody? "
                        + real.announced(),
                List.of(ALL_ARE_DONE, ALONE, TOGETHER),
                List.of(
                        new Parameter("clients", "Clients", "", 1, 100, 50, 10),
                        new Parameter("connections", "Connections and permits", "", 5, 50, 20, 5),
                        new Parameter("seconds", "A query takes", "s", 1, 10, 4, 3),
                        new Parameter("patience", "Clients leave after", "ms", 100, 5_000, 1_200, 700),
                        new Parameter("rounds", "Rounds", "", 1, 10, 1, 1)),
                "How HTTP/2 does, or a server that is not on Linux: without Linux, such clients are noticed only when the application writes."
                        + " Nor does it show what a query costs the database: this one only waits.",
                Source.of(AbandonedQueries.class),
                """
                virtual-thread:
                  limits:
                    db:
                      permits: 20
                  web:
                    cancel-abandoned: true
                  jdbc:
                    cancel-statements: true""",
                "",
                45,
                30,
                "queries in the database");
    }

    @Override
    public Answer run(Run run) throws Exception {
        run.progress(0, "Starting the database");
        ScarceServer server = real.get();
        Map<String, Line> drawn = new LinkedHashMap<>();
        List<Row> rows = run.compare(List.of(
                contender(NEITHER, new AbandonedTrial(server, run, false, false), drawn),
                contender(STATEMENTS, new AbandonedTrial(server, run, false, true), drawn),
                contender(ABANDONED, new AbandonedTrial(server, run, true, false), drawn),
                contender(BOTH, new AbandonedTrial(server, run, true, true), drawn)));
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        String why = server.isInThisJvm() ? DatabaseStops.H2_SHOWS_NOTHING : "";
        String right = why.isEmpty() ? right(rows, ranges) : "";
        return new Answer(
                        sentence(rows, run.get("clients"), run.get("seconds"), why),
                        List.of(
                                AbandonedTrial.GONE,
                                AbandonedTrial.BEGUN,
                                AbandonedTrial.LEFT,
                                AbandonedTrial.LOST,
                                AbandonedTrial.STAYS),
                        rows,
                        List.of(new Chart(
                                "Queries in the database; the clients leave after %,d ms"
                                        .formatted(run.get("patience")),
                                "seconds",
                                "queries",
                                List.copyOf(drawn.values()))),
                        notes(rows, run, server))
                .withRight(right, why.isEmpty() ? ranges.open() : why);
    }

    private static Contender contender(String name, AbandonedTrial trial, Map<String, Line> drawn) {
        return new Contender(name, trial::warmUp, () -> {
            AbandonedTrial.Measured measured = trial.measure(name);
            drawn.put(name, measured.line());
            return measured.figures();
        });
    }

    /**
     * The answer.
     *
     * @param why why there is no verdict; empty where there is one
     */
    static String sentence(List<Row> rows, int clients, int seconds, String why) {
        return ("%d clients left before their query of %d s was done. The database went on for %s s with neither property, %s s with"
                        + " cancel-statements, %s s with cancel-abandoned, %s s with both. %s")
                .formatted(
                        clients,
                        seconds,
                        median(rows, NEITHER, AbandonedTrial.GONE),
                        median(rows, STATEMENTS, AbandonedTrial.GONE),
                        median(rows, ABANDONED, AbandonedTrial.GONE),
                        median(rows, BOTH, AbandonedTrial.GONE),
                        why)
                .stripTrailing();
    }

    private static String median(List<Row> rows, String name, Column column) {
        return number(Row.named(rows, name).median(column.key()));
    }

    /** None where the rounds do not show it. */
    static String right(List<Row> rows, Ranges ranges) {
        Row neither = Row.named(rows, NEITHER);
        Row abandoned = Row.named(rows, ABANDONED);
        Row both = Row.named(rows, BOTH);
        if (!ranges.isMore(neither, both, AbandonedTrial.GONE)) {
            return ranges.isAlike(neither, both, AbandonedTrial.GONE) ? ALL_ARE_DONE : "";
        }
        if (ranges.isMore(abandoned, both, AbandonedTrial.GONE)) {
            return TOGETHER;
        }
        return ranges.isAlike(abandoned, both, AbandonedTrial.GONE) ? ALONE : "";
    }

    private static List<String> notes(List<Row> rows, Run run, ScarceServer server) {
        return List.of(
                "The database is %s. It was asked every %d ms on a connection of its own: %s. %s"
                        .formatted(
                                server.product(),
                                CountedLines.INTERVAL.toMillis(),
                                server.running(),
                                server.aboutStops()),
                "All clients asked at once by HTTP/1.1 and closed their connections after %,d ms, before any answer. The limit had %d permits, and the pool as many connections. Then one more asked for a short query under the same limit, and stayed."
                        .formatted(run.get("patience"), run.get("connections")),
                interrupts(rows),
                "Each contender has a server of its own. Load, server and database share %d cores."
                        .formatted(Runtime.getRuntime().availableProcessors()));
    }

    /** Why the one property needs the other. */
    static String interrupts(List<Row> rows) {
        return "With cancel-abandoned alone, the interrupt of a query closed its connection: %s sessions were lost, and %s queries were still in the database when all permits were back. With both it was %s and %s."
                .formatted(
                        median(rows, ABANDONED, AbandonedTrial.LOST),
                        median(rows, ABANDONED, AbandonedTrial.LEFT),
                        median(rows, BOTH, AbandonedTrial.LOST),
                        median(rows, BOTH, AbandonedTrial.LEFT));
    }
}
