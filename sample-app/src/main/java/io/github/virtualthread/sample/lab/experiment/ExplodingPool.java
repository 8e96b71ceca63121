package io.github.virtualthread.sample.lab.experiment;

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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.stereotype.Component;

/** More requests than a slow partner can serve: what is promised to the clients, and what is done. */
@Component
@Order(40)
class ExplodingPool implements Experiment {

    static final String POOL = "@Async, pool 50 and queue 100";
    static final String QUEUE = "@Async, Spring Boot's default";
    static final String VIRTUAL = "@VirtualThread with a limit";
    static final String VIRTUAL_WAITS = "@VirtualThread, answered when done";
    static final String WEB_CLIENT = "WebClient, answered when done";
    static final String SYNC = "synchronous";

    static final String AS_MANY = "As many as are answered";
    static final String FEWER = "With a full pool fewer, and nobody is told";
    static final String SLOWER = "The pool slows the clients down";

    private static final Map<String, String> PATHS = paths();

    private static final int WARM_UP_REQUESTS = 500;
    private static final int WARM_UP_USERS = 100;

    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(30); // of a request whose call has ended

    private final WebServerApplicationContext context;
    private final FloodRequests requests;
    private final List<ThreadPoolTaskExecutor> pools;

    ExplodingPool(
            WebServerApplicationContext context,
            FloodRequests requests,
            @Qualifier("floodPool") ThreadPoolTaskExecutor pool,
            @Qualifier("floodQueue") ThreadPoolTaskExecutor queue) {
        this.context = context;
        this.requests = requests;
        this.pools = List.of(pool, queue);
    }

    private static Map<String, String> paths() {
        Map<String, String> paths = new LinkedHashMap<>();
        paths.put(POOL, "pool");
        paths.put(QUEUE, "queue");
        paths.put(VIRTUAL, "virtual");
        paths.put(VIRTUAL_WAITS, "virtual-waits");
        paths.put(WEB_CLIENT, "web-client");
        paths.put(SYNC, "sync");
        return paths;
    }

    @Override
    public About about() {
        return new About(
                "exploding-pool",
                Act.THE_QUEUE_HAS_MOVED,
                "The pool that explodes",
                "Requests arrive faster than a slow partner serves them. How many are answered, and how many are really done?",
                List.of(AS_MANY, FEWER, SLOWER),
                List.of(
                        new Parameter("requests", "Requests", "", 1, 100_000, 1_000, 600).inTerminalUpTo(1_000_000),
                        new Parameter("users", "Users at once", "", 1, 3_000, 400, 200),
                        new Parameter("partner", "The partner takes", "ms", 1, 5_000, 200, 100),
                        new Parameter("timeout", "A user waits at most", "ms", 100, 60_000, 5_000, 5_000),
                        new Parameter("watch", "Each is watched for at most", "s", 1, 600, 5, 1),
                        Parameter.ROUNDS),
                "What a partner does under load: this one takes the same time for any number of calls. An unbounded queue ends"
                        + " where the heap ends. So does the queue of a limit without a queue-capacity. The last chart shows the heap.",
                Source.of(FloodRequests.class) + "\n\n" + Source.of(FloodTasks.class) + "\n\n"
                        + Source.of(FloodPartner.class),
                """
                virtual-thread:
                  limits:
                    flood:
                      permits: 50""",
                "flood",
                50,
                12,
                "requests");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Map<String, FloodLines> drawn = new LinkedHashMap<>();
        List<Row> rows = run.compare(
                PATHS.keySet().stream().map(name -> contender(name, run, drawn)).toList());
        List<Column> columns = new ArrayList<>(List.of(Tally.RATE, Tally.ANSWERED));
        columns.addAll(Flood.columns());
        columns.addAll(List.of(Tally.TIMED_OUT, Tally.FAILED, Latencies.P50, Latencies.P99, Latencies.MOST));
        List<Chart> charts = new ArrayList<>();
        PATHS.keySet().forEach(name -> charts.add(drawn.get(name).chart(name)));
        charts.add(new Chart(
                "Heap used, with what is not collected yet",
                "seconds",
                "MB",
                PATHS.keySet().stream().map(name -> drawn.get(name).heap(name)).toList()));
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        return new Answer(sentence(rows), columns, rows, charts, notes(run))
                .withRight(right(rows, ranges), ranges.open());
    }

    private Contender contender(String name, Run run, Map<String, FloodLines> drawn) {
        return new Contender(name, () -> warmUp(name), () -> {
            Flood flood = new Flood(run.get("requests"), Duration.ofMillis(run.get("partner")));
            Tally tally = new Tally();
            FloodLines lines = new FloodLines(flood, tally);
            drawn.put(name, lines);
            Duration timeout = Duration.ofMillis(run.get("timeout"));
            Duration watch = Duration.ofSeconds(run.get("watch"));
            return lines.draw(run, () -> measure(name, flood, tally, run.get("users"), timeout, watch));
        });
    }

    private Measurement warmUp(String name) throws Exception {
        Flood flood = new Flood(WARM_UP_REQUESTS, Duration.ofMillis(1));
        return measure(name, flood, new Tally(), WARM_UP_USERS, Duration.ofSeconds(5), Duration.ofSeconds(5));
    }

    /** Lets users of one contender come and go. */
    Measurement measure(String name, Flood flood, Tally tally, int users, Duration timeout, Duration watch)
            throws Exception {
        long end = System.nanoTime() + watch.toNanos();
        requests.belongTo(flood);
        // of its own each time: what is still served when the time is over ends with it
        try (Doors doors = Doors.open(context.getWebServer())) {
            try {
                WebUsers.Load load = new WebUsers.Load(
                        doors.platform(),
                        "/lab/flood/%s?request=".formatted(PATHS.get(name)),
                        users,
                        Duration.ZERO,
                        watch,
                        flood.requests(),
                        timeout);
                WebUsers.Spent spent = WebUsers.ask(load, tally, flood::clientIsGone);
                flood.await(end - System.nanoTime());
                return flood.addTo(tally.measured(spent));
            } finally {
                requests.belongTo(Flood.fromOutside());
                flood.end();
                doors.awaitAnswers(LONGEST_ANSWER);
            }
        } finally {
            pools.forEach(ExplodingPool::restart);
        }
    }

    private static void restart(ThreadPoolTaskExecutor pool) {
        pool.shutdown(); // interrupts what runs, and forgets what waits
        pool.initialize();
    }

    private static String sentence(List<Row> rows) {
        return ("The pool of 50 answered %s requests: %s done, %s rejected without the client being told. Spring Boot's default"
                        + " answered %s: %s done, %s still waiting. @VirtualThread answered %s: %s done, %s still waiting.")
                .formatted(
                        count(rows, POOL, Tally.ANSWERED),
                        count(rows, POOL, Flood.DONE),
                        count(rows, POOL, Flood.REJECTED),
                        count(rows, QUEUE, Tally.ANSWERED),
                        count(rows, QUEUE, Flood.DONE),
                        count(rows, QUEUE, Flood.LEFT),
                        count(rows, VIRTUAL, Tally.ANSWERED),
                        count(rows, VIRTUAL, Flood.DONE),
                        count(rows, VIRTUAL, Flood.LEFT));
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row pool = Row.named(rows, POOL);
        double answered = pool.median(Tally.ANSWERED.key());
        if (pool.median(Flood.REJECTED.key()) > 0) {
            return FEWER;
        }
        if (pool.median(Flood.DONE.key()) >= answered) {
            return AS_MANY;
        }
        return ranges.isMore(Row.named(rows, QUEUE), pool, Tally.ANSWERED) ? SLOWER : "";
    }

    private static String count(List<Row> rows, String name, Column column) {
        return "%,.0f".formatted(Row.named(rows, name).median(column.key()));
    }

    private static List<String> notes(Run run) {
        return List.of(
                "Load generator and server share %d cores."
                        .formatted(Runtime.getRuntime().availableProcessors()),
                "All requests are served by %d platform threads, which is Tomcat's default."
                        .formatted(Doors.PLATFORM_THREADS),
                "WebClient calls the partner over HTTP, in the same JVM, without a thread and without a limit. The others call a method"
                        + " that sleeps.",
                "After %d s users stop asking, and unfinished work is ended.".formatted(run.get("watch")),
                "A client leaves when it has its answer, or stops waiting for it. A client that is answered at once has left before the"
                        + " work is done, and is never told the outcome.",
                "Times are those of the answers, not of the work.");
    }
}
