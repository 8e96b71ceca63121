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
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** More users than the pool behind a web server can serve, with a limit for all requests and without. */
@Component
@Order(100)
class TheDoor implements Experiment {

    static final String DOOR = "virtual threads, door";
    static final String VIRTUAL = "virtual threads, no door";
    static final String PLATFORM = "platform threads, no door";

    static final String MORE = "More requests are done";
    static final String SOONER = "As many are done, but refused users know at once";
    static final String NOTHING = "Nothing: the pool refuses as early";

    static final Column DONE = new Column(Tally.RATE.key(), "done", "per second");

    /** Part by which figures may differ that are called equal. */
    private static final double SAME = 0.05;

    private static final Duration RAMP_UP = Duration.ofSeconds(1);
    private static final Duration WARM_UP = Duration.ofSeconds(1);

    @Override
    public About about() {
        return new About(
                "the-door",
                Act.LIMIT_THE_RESOURCE,
                "The door",
                "More users ask than the pool behind a web server can serve. What does a limit for all requests change?",
                List.of(MORE, SOONER, NOTHING),
                List.of(
                        new Parameter("users", "Users", "", 1, 5_000, 3_000, 600),
                        new Parameter("places", "Places in the pool", "", 10, 500, 200, 50),
                        new Parameter("queue", "queue-capacity of the limit", "", 0, 5_000, 400, 100),
                        new Parameter("wait", "max-wait of the limit", "ms", 1, 60_000, 1_500, 1_000),
                        new Parameter("millis", "A request takes", "ms", 1, Requests.LONGEST, 500, 200),
                        new Parameter("timeout", "Timeout of the pool", "ms", 1, 30_000, 1_000, 400),
                        new Parameter("pause", "Refused users come back after", "ms", 100, 60_000, 2_500, 1_000),
                        new Parameter("seconds", "Users ask for", "s", 1, 60, 6, 2),
                        new Parameter("rounds", "Rounds", "", 1, 10, 1, 1)),
                "What a door does where the processor is scarce. Here a request only waits. Permits have to follow what is scarce, not"
                        + " the number of threads that served requests before: if requests compute, 200 permits are far too many for"
                        + " %d cores. Nor does it show users who give up: all wait for their answer."
                                .formatted(Runtime.getRuntime().availableProcessors()),
                Source.of(FairPool.class),
                """
                spring:
                  threads:
                    virtual:
                      enabled: true
                virtual-thread:
                  limits:
                    web:
                      permits: 200
                      queue-capacity: 400
                      max-wait: 1500ms
                  web:
                    limit: web""",
                "",
                35,
                16,
                "requests done");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Map<String, Line> waiting = new LinkedHashMap<>();
        List<Row> rows = run.compare(Stream.of(
                        new Way(DOOR, true, door(run)),
                        new Way(VIRTUAL, true, Map.of()),
                        new Way(PLATFORM, false, Map.of("server.tomcat.threads.max", run.get("places"))))
                .map(way -> contender(way, run, waiting))
                .toList());
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        return new Answer(
                        sentence(rows, ranges),
                        List.of(
                                DONE,
                                Latencies.P50,
                                Latencies.P99,
                                DoorTally.REFUSED,
                                DoorTally.TOLD,
                                DoorTally.TOLD_99,
                                Tally.FAILED,
                                Tally.TIMED_OUT,
                                Tally.BUSY),
                        rows,
                        List.of(new Chart(
                                "Users who wait for an answer", "seconds", "users", List.copyOf(waiting.values()))),
                        notes(rows, run, ranges))
                .withRight(right(rows, ranges), ranges.open());
    }

    private static Map<String, Object> door(Run run) {
        return Map.of(
                "virtual-thread.limits.web.permits",
                run.get("places"),
                "virtual-thread.limits.web.queue-capacity",
                run.get("queue"),
                "virtual-thread.limits.web.max-wait",
                run.get("wait") + "ms",
                "virtual-thread.web.limit",
                "web");
    }

    private static Contender contender(Way way, Run run, Map<String, Line> waiting) {
        return new Contender(way.name(), () -> warmUp(way, run), () -> {
            DoorTally tally = new DoorTally();
            CountedLines lines = new CountedLines(System.nanoTime()).with(way.name(), tally::waiting);
            Duration loop = Duration.ofSeconds(run.get("seconds"));
            try (DoorServer server = way.start(run)) {
                WebUsers.Load load = load(server, run, loop, ScarceUsers.LONGEST);
                Measurement measured = lines.during(() -> tally.ask(load, way.name(), run));
                waiting.put(way.name(), lines.lines().getFirst());
                return tally.addTo(measured, RAMP_UP.plus(loop));
            }
        });
    }

    /** Until the first have been refused by the pool; what the server still has to do then ends with it. */
    private static Measurement warmUp(Way way, Run run) throws Exception {
        Duration end = RAMP_UP.plusMillis(run.get("timeout")).plus(WARM_UP);
        try (DoorServer server = way.start(run)) {
            return new DoorTally().ask(load(server, run, WARM_UP, end));
        }
    }

    private static WebUsers.Load load(DoorServer server, Run run, Duration loop, Duration end) {
        return new WebUsers.Load(
                server.port(),
                DoorServer.PATH,
                run.get("users"),
                RAMP_UP,
                loop,
                Integer.MAX_VALUE,
                ScarceUsers.LONGEST,
                end,
                Duration.ofMillis(run.get("pause")));
    }

    static String sentence(List<Row> rows, Ranges ranges) {
        Row door = Row.named(rows, DOOR);
        Row virtual = Row.named(rows, VIRTUAL);
        Row platform = Row.named(rows, PLATFORM);
        return ("With the door, %s requests per second were done. Without it, %s were done on virtual threads and %s on"
                        + " platform threads. %s The median request took %s, %s and %s. The median refusal came %s with the door,"
                        + " %s on virtual threads without it, and %s on platform threads.")
                .formatted(
                        number(rate(door)),
                        number(rate(virtual)),
                        number(rate(platform)),
                        goodput(rows, ranges),
                        took(door),
                        took(virtual),
                        took(platform),
                        came(door),
                        came(virtual),
                        came(platform));
    }

    private static String goodput(List<Row> rows, Ranges ranges) {
        String platform = isMore(rows, PLATFORM, DOOR, ranges) ? " Platform threads did more still." : "";
        if (isMore(rows, DOOR, VIRTUAL, ranges)) {
            return "On virtual threads the door added goodput." + platform;
        }
        if (isMore(rows, VIRTUAL, DOOR, ranges)) {
            return "On virtual threads the door cost goodput.";
        }
        return isEqual(rows) ? "The door added no goodput." : "The door made no clear difference to goodput.";
    }

    private static boolean isEqual(List<Row> rows) {
        return Math.abs(rate(rows, DOOR) / rate(rows, VIRTUAL) - 1) <= SAME;
    }

    private static String took(Row row) {
        return has(row, Latencies.P50)
                ? number(row.median(Latencies.P50.key())) + " ms"
                : "no time that could be measured";
    }

    private static String came(Row row) {
        return has(row, DoorTally.TOLD) ? "after %s ms".formatted(number(row.median(DoorTally.TOLD.key()))) : "never";
    }

    private static boolean has(Row row, Column column) {
        return row.figures().containsKey(column.key());
    }

    private static boolean isMore(List<Row> rows, String one, String other, Ranges ranges) {
        return ranges.isMore(Row.named(rows, one), Row.named(rows, other), DONE);
    }

    private static double rate(List<Row> rows, String name) {
        return rate(Row.named(rows, name));
    }

    private static double rate(Row row) {
        return row.median(DONE.key());
    }

    /** None where the door cost goodput, refused later than the pool, or where nobody was refused: then it was not needed. */
    static String right(List<Row> rows, Ranges ranges) {
        if (isMore(rows, DOOR, VIRTUAL, ranges)) {
            return MORE;
        }
        if (isMore(rows, VIRTUAL, DOOR, ranges) || !ranges.open().isEmpty()) {
            return "";
        }
        double sooner = sooner(rows);
        return sooner > 4 ? SOONER : sooner >= 0.8 && sooner <= 1.25 ? NOTHING : "";
    }

    /** How many times as long the pool takes to refuse as the door; zero where one of them has refused nobody. */
    private static double sooner(List<Row> rows) {
        Row door = Row.named(rows, DOOR);
        Row virtual = Row.named(rows, VIRTUAL);
        return has(door, DoorTally.TOLD) && has(virtual, DoorTally.TOLD)
                ? virtual.median(DoorTally.TOLD.key()) / door.median(DoorTally.TOLD.key())
                : 0;
    }

    private static List<String> notes(List<Row> rows, Run run, Ranges ranges) {
        int places = run.get("places");
        return List.of(
                "The pool behind serves %d requests at once, in the order in which they ask, and refuses one that has waited for %,d ms. %s"
                        .formatted(places, run.get("timeout"), honestly(rows, ranges)),
                ("The door lets you choose the wait: queue-capacity / permits x the time of a request, here %,d / %d x %,d ms ="
                                + " %,d ms, but at most max-wait, here %,d ms. Without a door the timeout of the pool decides, or"
                                + " nothing does.")
                        .formatted(
                                run.get("queue"),
                                places,
                                run.get("millis"),
                                (long) run.get("queue") * run.get("millis") / places,
                                run.get("wait")),
                "The limit has as many permits, and the server as many platform threads, as the pool has places. Without virtual"
                        + " threads requests wait for a thread in the queue of the server, which has no timeout: no user is refused,"
                        + " and none knows how long it will take.",
                "A refusal is a 503, by the door or by the pool. Tomcat closes the connection then, so a refused user comes back with"
                        + " a new one.",
                "Done per second: until the last user had an answer, also while the last requests did not fill the pool any more."
                        + " Refused per second: while users asked, for %d s."
                                .formatted(RAMP_UP.toSeconds() + run.get("seconds")),
                "Load generator and server share %d cores and one JVM. Each contender has a server of its own."
                        .formatted(Runtime.getRuntime().availableProcessors()));
    }

    /** What the figures of this run say of a pool whose queue is fair. */
    static String honestly(List<Row> rows, Ranges ranges) {
        if (isMore(rows, DOOR, VIRTUAL, ranges)) {
            return "In this run the door added goodput: the timeout of the pool is too short to keep the pool busy, or something"
                    + " else was scarce, such as the processor. Otherwise a door adds no goodput in front of such a pool.";
        }
        if (isMore(rows, VIRTUAL, DOOR, ranges)) {
            return "In this run the door cost goodput: its queue or its max-wait is too short to keep the pool busy, or something"
                    + " else was scarce, such as the processor.";
        }
        double sooner = sooner(rows);
        return (isEqual(rows)
                        ? "In front of such a pool a door adds no goodput."
                        : "The difference in goodput is too small to tell it from other work of the server, such as thousands of"
                                + " requests that time out at once.")
                + (sooner > 4 ? " The door refuses at once what the pool would refuse later." : "")
                + (sooner > 0 && sooner < 0.8
                        ? " In this run the door refused later than the pool: its max-wait is longer than the timeout of the pool."
                        : "");
    }

    /** A server and how its requests come in. */
    private record Way(String name, boolean virtualThreads, Map<String, Object> settings) {

        DoorServer start(Run run) {
            Duration timeout = Duration.ofMillis(run.get("timeout"));
            Duration work = Duration.ofMillis(run.get("millis"));
            return DoorServer.start(new FairPool(run.get("places"), timeout, work), virtualThreads, settings);
        }
    }
}
