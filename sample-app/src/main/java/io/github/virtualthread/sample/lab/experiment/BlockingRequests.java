package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** The same application behind a pool of platform threads and behind virtual threads, asked by many users. */
@Component
@Order(20)
class BlockingRequests implements Experiment {

    static final String PLATFORM_QUICK = "platform threads, quick";
    static final String VIRTUAL_QUICK = "virtual threads, quick";
    static final String PLATFORM_BLOCK = "platform threads, block";
    static final String VIRTUAL_BLOCK = "virtual threads, block";

    static final String VIRTUAL_ALWAYS = "Virtual threads, whatever the request does";
    static final String VIRTUAL_WHERE_WAITING = "Virtual threads, but only where requests wait";
    static final String POOL = "The pool: its threads are kept";

    private static final int WARM_UP_USERS = 50;
    private static final int WARM_UP_MILLIS = 10;
    private static final int SHORTEST_WARM_UP = 500; // milliseconds, as the longest
    private static final int LONGEST_WARM_UP = 3_000;

    /** From here on one thread that drives the users may be what limits the rate. */
    private static final double TOO_BUSY = 80;

    private final WebServerApplicationContext context;

    BlockingRequests(WebServerApplicationContext context) {
        this.context = context;
    }

    @Override
    public About about() {
        return new About(
                "blocking-requests",
                Act.WAITING_IS_CHEAP,
                "Blocking requests",
                "Many users call a web server with 200 platform threads, and the same server with virtual threads. Which one answers"
                        + " more requests?",
                List.of(VIRTUAL_ALWAYS, VIRTUAL_WHERE_WAITING, POOL),
                List.of(
                        new Parameter("users", "Users", "", 1, 3_000, 600, 400),
                        new Parameter("millis", "A request blocks", "ms", 1, Requests.LONGEST, 1_000, 250),
                        new Parameter("ramp", "Users come within", "s", 0, 60, 0, 0),
                        new Parameter("loop", "Users ask again for, 0 for once", "s", 0, 60, 2, 0),
                        new Parameter("timeout", "A user waits at most", "ms", 100, 60_000, 10_000, 10_000),
                        Parameter.ROUNDS),
                "How a server performs on a machine of its own, or what its requests wait for. Here they only sleep, and"
                        + " nothing behind them is limited.",
                Source.of(Requests.class),
                """
                spring:
                  threads:
                    virtual:
                      enabled: true""",
                "",
                40,
                20,
                "requests answered");
    }

    @Override
    public Answer run(Run run) throws Exception {
        try (Doors doors = Doors.open(context.getWebServer())) {
            List<Row> rows = run.compare(List.of(
                    contender(PLATFORM_QUICK, doors.platform(), false, run),
                    contender(VIRTUAL_QUICK, doors.virtual(), false, run),
                    contender(PLATFORM_BLOCK, doors.platform(), true, run),
                    contender(VIRTUAL_BLOCK, doors.virtual(), true, run)));
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, run.get("millis")),
                            List.of(
                                    Tally.RATE,
                                    Tally.ANSWERED,
                                    Tally.FAILED,
                                    Tally.TIMED_OUT,
                                    Latencies.P50,
                                    Latencies.P99,
                                    Latencies.MOST,
                                    Tally.BUSY),
                            rows,
                            List.of(),
                            notes(rows))
                    .withRight(right(rows, ranges), ranges.open());
        }
    }

    private Contender contender(String name, int port, boolean blocks, Run run) {
        WebUsers.Load little =
                WebUsers.Load.warmUp(port, path(blocks, WARM_UP_MILLIS), WARM_UP_USERS, warmUp(run.get("loop")));
        WebUsers.Load load = new WebUsers.Load(
                port,
                path(blocks, run.get("millis")),
                run.get("users"),
                Duration.ofSeconds(run.get("ramp")),
                Duration.ofSeconds(run.get("loop")),
                Integer.MAX_VALUE,
                Duration.ofMillis(run.get("timeout")));
        return new Contender(name, () -> new Tally().ask(little), () -> new Tally().ask(load, name, run));
    }

    /** As long as what is measured, within bounds: code that is not compiled yet answers a tenth of the quick requests. */
    private static Duration warmUp(int loopSeconds) {
        return Duration.ofMillis(Math.clamp(loopSeconds * 1_000L, SHORTEST_WARM_UP, LONGEST_WARM_UP));
    }

    private static String path(boolean blocks, int millis) {
        return blocks ? "/lab/requests/block?millis=%d&request=".formatted(millis) : "/lab/requests/quick?request=";
    }

    private static String sentence(List<Row> rows, int millis) {
        return ("Of requests that block for %,d ms, virtual threads answered %s per second and %d platform threads %s. Of requests"
                        + " that are answered at once, virtual threads answered %s per second and platform threads %s.")
                .formatted(
                        millis,
                        rate(rows, VIRTUAL_BLOCK),
                        Doors.PLATFORM_THREADS,
                        rate(rows, PLATFORM_BLOCK),
                        rate(rows, VIRTUAL_QUICK),
                        rate(rows, PLATFORM_QUICK));
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row virtual = Row.named(rows, VIRTUAL_BLOCK);
        Row platform = Row.named(rows, PLATFORM_BLOCK);
        Row virtualQuick = Row.named(rows, VIRTUAL_QUICK);
        Row platformQuick = Row.named(rows, PLATFORM_QUICK);
        if (!ranges.isMore(virtual, platform, Tally.RATE)) {
            return ranges.isMore(platform, virtual, Tally.RATE) ? POOL : "";
        }
        if (ranges.isMore(virtualQuick, platformQuick, Tally.RATE)) {
            return VIRTUAL_ALWAYS;
        }
        return ranges.isMore(platformQuick, virtualQuick, Tally.RATE)
                        || ranges.isAlike(virtualQuick, platformQuick, Tally.RATE)
                ? VIRTUAL_WHERE_WAITING
                : "";
    }

    private static List<String> notes(List<Row> rows) {
        int cores = Runtime.getRuntime().availableProcessors();
        String shared = "Load generator and server share %d cores.".formatted(cores);
        String busiest = rows.stream()
                .filter(row -> row.median(Tally.BUSY.key()) > TOO_BUSY)
                .map(row -> "%s (%.0f %%)".formatted(row.name(), row.median(Tally.BUSY.key())))
                .reduce("%s, %s"::formatted)
                .orElse("");
        return List.of(
                busiest.isEmpty()
                        ? shared
                        : shared
                                + " The one thread that drives the users may itself have limited the rate: it was busy nearly"
                                + " all the time with " + busiest + ".",
                "Times cover answered requests only. A request that times out is not a success, and its user connects again.",
                "Both ports belong to one application in one JVM. Only the threads behind them differ.");
    }

    private static String rate(List<Row> rows, String name) {
        return number(median(rows, name));
    }

    private static double median(List<Row> rows, String name) {
        return Row.named(rows, name).median(Tally.RATE.key());
    }
}
