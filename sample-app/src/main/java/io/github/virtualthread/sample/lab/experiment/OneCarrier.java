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
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** A web server that has one thread of the platform: as the carrier of virtual threads, and as its only worker. */
@Component
@Order(30)
class OneCarrier implements Experiment {

    static final String PLATFORM = "one platform thread";
    static final String VIRTUAL = "virtual threads on one carrier";

    static final String ONE_AT_A_TIME = "One at a time, whatever kind of thread";
    static final String ALL_USERS = "With virtual threads as many as there are users";
    static final String A_LITTLE_MORE = "With virtual threads a little more";

    private static final List<String> ONE_CARRIER = List.of(
            "-Dspring.threads.virtual.enabled=true",
            "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1");
    private static final List<String> ONE_THREAD = List.of(
            "-Dspring.threads.virtual.enabled=false",
            "-Dserver.tomcat.threads.max=1",
            "-Dserver.tomcat.threads.min-spare=1");

    /** A heap so small that it is collected within seconds; and the server may be asked by all at once. */
    private static final List<String> BOTH = List.of(
            "-Xmx64m",
            "-Xmn2m",
            "-XX:+UseSerialGC",
            "-Dserver.address=127.0.0.1",
            "-Dserver.port=0",
            "-Dserver.shutdown=immediate", // the next round does not wait for those who have gone in the last
            "-Dserver.tomcat.accept-count=4096",
            "-Dserver.tomcat.max-keep-alive-requests=-1",
            "-Dspring.main.banner-mode=off",
            "-Dlogging.level.root=warn");

    private static final int WARM_UP_USERS = 20;
    private static final Duration WARM_UP_LOOP = Duration.ofMillis(300);

    /** What a request that was sent in time may take beyond the time for which it blocks. */
    private static final Duration GRACE = Duration.ofMillis(500);

    private static final Column SERVED_BY = new Column("servedBy", "platform threads for requests", "");

    @Override
    public About about() {
        return new About(
                "one-carrier",
                Act.WAITING_IS_CHEAP,
                "One carrier",
                "A web server has one platform thread for all requests, and each request waits. How many requests does it answer?",
                List.of(ONE_AT_A_TIME, ALL_USERS, A_LITTLE_MORE),
                List.of(
                        new Parameter("users", "Users", "", 1, 500, 50, 20),
                        new Parameter("millis", "A request blocks", "ms", 1, Requests.LONGEST, 1_000, 100),
                        new Parameter("seconds", "Users ask again for", "s", 1, 30, 5, 2),
                        Parameter.ROUNDS),
                "How many carriers a server should have. If requests compute, one carrier answers no more of them than one"
                        + " thread does. Here they only sleep.",
                Source.of(OneCarrierServer.class) + "\n\n" + Source.of(Requests.class),
                """
                # java -Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1
                spring:
                  threads:
                    virtual:
                      enabled: true""",
                "",
                55,
                45,
                "requests answered");
    }

    @Override
    public Answer run(Run run) throws Exception {
        run.progress(0, "Starting two JVMs");
        try (ChildJvm platform = server(ONE_THREAD);
                ChildJvm virtual = server(ONE_CARRIER)) {
            Map<String, List<double[]>> latencies = new LinkedHashMap<>();
            Map<String, List<double[]>> heaps = new LinkedHashMap<>();
            List<Row> rows = run.compare(List.of(
                    contender(PLATFORM, platform, run, latencies, heaps),
                    contender(VIRTUAL, virtual, run, latencies, heaps)));
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, run.get("users")),
                            List.of(
                                    Tally.RATE,
                                    Tally.ANSWERED,
                                    Tally.FAILED,
                                    Tally.TIMED_OUT,
                                    Latencies.P50,
                                    Latencies.P99,
                                    Latencies.MOST,
                                    SERVED_BY,
                                    Tally.BUSY),
                            rows,
                            List.of(
                                    chart("Latency over time, of what was answered", "ms", latencies),
                                    chart("Heap of new objects", "MB", heaps)),
                            notes(run))
                    .withRight(right(rows, run.get("users"), run.get("millis"), ranges), ranges.open());
        }
    }

    private static ChildJvm server(List<String> threads) throws IOException {
        return ChildJvm.start(
                OneCarrierServer.class,
                Stream.concat(BOTH.stream(), threads.stream()).toList());
    }

    private static Contender contender(
            String name,
            ChildJvm server,
            Run run,
            Map<String, List<double[]>> latencies,
            Map<String, List<double[]>> heaps) {
        return new Contender(name, () -> warmUp(open(server)), () -> {
            int port = open(server); // anew: the one thread would still serve those who have gone in the last round
            warmUp(port);
            TimedTally tally = new TimedTally();
            server.ask(OneCarrierServer.WATCH);
            Measurement measured = tally.ask(load(port, run), name, run);
            String[] seen = server.ask(OneCarrierServer.SEEN).split(" ");
            latencies.put(name, tally.points());
            heaps.put(name, Stream.of(seen).skip(1).map(OneCarrier::megabytes).toList());
            return measured.and(SERVED_BY.key(), Integer.parseInt(seen[0]));
        });
    }

    private static int open(ChildJvm server) throws InterruptedException {
        return Integer.parseInt(server.ask(OneCarrierServer.OPEN));
    }

    private static Measurement warmUp(int port) throws Exception {
        return new Tally().ask(WebUsers.Load.warmUp(port, "/lab/requests/quick?request=", WARM_UP_USERS, WARM_UP_LOOP));
    }

    private static WebUsers.Load load(int port, Run run) {
        return new WebUsers.Load(
                port,
                "/lab/requests/block?millis=%d&request=".formatted(run.get("millis")),
                run.get("users"),
                Duration.ZERO,
                Duration.ofSeconds(run.get("seconds")),
                Integer.MAX_VALUE,
                end(run),
                end(run));
    }

    private static Duration end(Run run) {
        return Duration.ofSeconds(run.get("seconds"))
                .plusMillis(run.get("millis"))
                .plus(GRACE);
    }

    /** Of milliseconds and bytes, as the server tells them. */
    private static double[] megabytes(String point) {
        String[] parts = point.split(":");
        return new double[] {Integer.parseInt(parts[0]) / 1e3, Long.parseLong(parts[1]) / (double) (1 << 20)};
    }

    private static Chart chart(String title, String y, Map<String, List<double[]>> points) {
        List<Line> lines = points.entrySet().stream()
                .map(line -> new Line(line.getKey(), line.getValue()))
                .toList();
        return new Chart(title, "seconds", y, lines);
    }

    private static String sentence(List<Row> rows, int users) {
        return "%,d users got %s from %s, and %s from %s."
                .formatted(users, got(Row.named(rows, VIRTUAL)), VIRTUAL, got(Row.named(rows, PLATFORM)), PLATFORM);
    }

    /** As many as there are users are answered in the time that one request blocks, if each waits on its own. */
    static String right(List<Row> rows, int users, int millis, Ranges ranges) {
        Row platform = Row.named(rows, PLATFORM);
        Row virtual = Row.named(rows, VIRTUAL);
        if (users > 1 && virtual.figure(Tally.RATE).min() * millis / 1e3 > 0.7 * users) {
            return ALL_USERS;
        }
        if (ranges.isMore(virtual, platform, Tally.RATE)) {
            return virtual.figure(Tally.RATE).max()
                            < 3 * platform.figure(Tally.RATE).min()
                    ? A_LITTLE_MORE
                    : "";
        }
        return ranges.isAlike(virtual, platform, Tally.RATE) ? ONE_AT_A_TIME : "";
    }

    private static String got(Row row) {
        String answers = "%s answers per second".formatted(number(row.median(Tally.RATE.key())));
        return row.figures().containsKey(Latencies.P50.key())
                ? "%s (median %,.0f ms, %,.0f requests timed out)"
                        .formatted(answers, row.median(Latencies.P50.key()), row.median(Tally.TIMED_OUT.key()))
                : answers;
    }

    private static List<String> notes(Run run) {
        return List.of(
                "Each server is a JVM of its own; load generator and server share %d cores."
                        .formatted(Runtime.getRuntime().availableProcessors()),
                "A user without an answer %,d ms after the start has timed out, which is not a success. Times cover answered"
                                .formatted(end(run).toMillis())
                        + " requests only.",
                "Eden, the part of the heap for new objects, is collected again and again. It is kept below 2 MB in a heap of"
                        + " 64 MB (-Xmx64m -Xmn2m -XX:+UseSerialGC), so that it fills within seconds. Its chart shows the last"
                        + " round, as the chart of the latencies does.",
                "Platform threads for requests were counted in the server: carriers, and workers of Tomcat. Both servers have two"
                        + " more threads, which accept connections and read from them.");
    }
}
