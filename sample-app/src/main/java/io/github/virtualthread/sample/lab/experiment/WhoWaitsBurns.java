package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** A thousand callers of a pool of ten: what their waiting costs the processor. */
@Component
@Order(105)
class WhoWaitsBurns implements Experiment {

    static final String POOL = "no limit, waiting in HikariCP";
    static final String LIMIT = "permits-from, waiting in the limit";

    static final String BURNS = "Waiting in the pool costs more";
    static final String SAME = "Both cost the same";
    static final String LIMIT_BURNS = "Waiting in the limit costs more";

    static final Column EACH = new Column("each", "processor time of a query", "µs");
    static final Column BUSY = new Column("busy", "carriers busy, of one core", "%");
    static final Column RATE = new Column("rate", "queries", "per second");
    static final Column FAILED = new Column("failed", "failed", "");

    /** In milliseconds: so long that the compiler has done its work, which is processor time too. */
    private static final int WARM_UP = 6_000;

    @Override
    public About about() {
        return new About(
                "who-waits-burns",
                Act.LIMIT_THE_RESOURCE,
                "Who waits burns the carriers",
                "A thousand callers on virtual threads share ten connections. What does their waiting cost the processor, in the pool and"
                        + " under a limit?",
                List.of(BURNS, SAME, LIMIT_BURNS),
                List.of(
                        new Parameter("callers", "Callers", "", 1, 10_000, 1_000, 1_000),
                        new Parameter("millis", "A query takes", "ms", 1, 1_000, 5, 5),
                        new Parameter("seconds", "Each is measured for", "s", 1, 30, 4, 1),
                        Parameter.ROUNDS),
                "What a query costs: this one is select 1 of H2 and a sleep. Other pools wait in other ways.",
                Source.of(BurnQueries.class),
                """
                virtual-thread:
                  limits:
                    pool:
                      permits-from: dataSource""",
                "",
                45,
                20,
                "");
    }

    @Override
    public Answer run(Run run) throws Exception {
        run.progress(0, "Starting a JVM");
        try (ChildJvm jvm = ChildJvm.start(
                BurnServer.class, List.of("-Xmx256m", "-Dspring.main.banner-mode=off", "-Dlogging.level.root=warn"))) {
            List<Row> rows = run.compare(List.of(contender(POOL, false, jvm, run), contender(LIMIT, true, jvm, run)));
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(sentence(rows, run), List.of(EACH, BUSY, RATE, FAILED), rows, List.of(), notes())
                    .withRight(right(rows, ranges), ranges.open());
        }
    }

    private static Contender contender(String name, boolean limited, ChildJvm jvm, Run run) {
        String ask = "%s %s %d %d ".formatted(BurnServer.MEASURE, limited, run.get("callers"), run.get("millis"));
        return new Contender(
                name, () -> measure(jvm, ask + WARM_UP), () -> measure(jvm, ask + 1_000 * run.get("seconds")));
    }

    private static Measurement measure(ChildJvm jvm, String question) throws InterruptedException {
        return new Measurement(Stream.of(jvm.ask(question).split(" "))
                .map(figure -> figure.split("="))
                .collect(Collectors.toMap(figure -> figure[0], figure -> Double.parseDouble(figure[1]))));
    }

    private static String sentence(List<Row> rows, Run run) {
        Row pool = Row.named(rows, POOL);
        Row limit = Row.named(rows, LIMIT);
        return ("Of %,d callers that share %d connections, a query cost %s µs of processor time when they waited in the pool, and %s µs"
                        + " under a limit.")
                .formatted(
                        run.get("callers"),
                        BurnServer.CONNECTIONS,
                        number(pool.median(EACH.key())),
                        number(limit.median(EACH.key())));
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row pool = Row.named(rows, POOL);
        Row limit = Row.named(rows, LIMIT);
        if (ranges.isMore(pool, limit, EACH)) {
            return BURNS;
        }
        if (ranges.isMore(limit, pool, EACH)) {
            return LIMIT_BURNS;
        }
        return ranges.isAlike(pool, limit, EACH) ? SAME : "";
    }

    private static List<String> notes() {
        return List.of(
                "Reported of HikariCP as https://github.com/brettwooldridge/HikariCP/issues/2398.",
                "Processor time is that of a JVM of its own, with its collector and compiler, while all callers wait or query. Carriers"
                        + " busy: that time by the clock; all cores are %d00 %%."
                                .formatted(Runtime.getRuntime().availableProcessors()),
                "The limit has as many permits as the pool has connections, which is what permits-from sets.");
    }
}
