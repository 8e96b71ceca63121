package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import io.github.virtualthread.sample.lab.experiment.ReplicasTrial.Part;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Three replicas that call the same partner, while one of them is idle, one is killed, and Redis is stopped. */
@Component
@Order(120)
class ThreeReplicas implements Experiment {

    static final String LOCAL = "local limits";
    static final String SHARES = "shares";
    static final String PERMIT = "a permit for each call";
    static final String NONE = "None of them";

    private static final List<Way> WAYS = List.of(
            new Way(LOCAL, ReplicaServer.LOCAL),
            new Way(SHARES, ReplicaServer.SHARES),
            new Way(PERMIT, ReplicaServer.PERMIT));

    /** Part of the permits that has to be in use to keep the partner busy. */
    private static final double BUSY = 0.8;

    /** In which something is away. */
    private static final List<Part> AWAY = List.of(Part.ONE_IDLE, Part.ONE_KILLED, Part.REDIS_STOPPED);

    private static final Measurement NOTHING = new Measurement(Map.of());

    @Override
    public About about() {
        return new About(
                "three-replicas",
                Act.LIMIT_THE_RESOURCE,
                "Three replicas",
                "Three replicas call a partner that takes only so many calls at once. One replica is idle for a while, one is"
                        + " killed, and Redis stops. What keeps the partner busy each time?",
                List.of(LOCAL, SHARES, PERMIT, NONE),
                List.of(
                        new Parameter("permits", "Permits for each replica", "", 1, 20, 7, 7),
                        new Parameter("millis", "A call takes", "ms", 20, 1_000, 100, 100),
                        new Parameter("seconds", "Each part takes", "s", 3, 30, 4, 3),
                        new Parameter("rounds", "Rounds", "", 1, 10, 1, 1)),
                "A network between the replicas, which all run on this machine. A replica that reaches Redis while others do not"
                        + " is not shown either, nor is a Redis that comes back without its data.",
                Source.of(LimitedPartnerCalls.class) + "\n\n" + Source.of(PermitPartnerCalls.class),
                """
                virtual-thread:
                  limits:
                    partner:
                      cluster-permits: 21
                  cluster:
                    replicas: 3
                    lease: 1s""",
                "",
                95,
                75,
                "calls at the partner");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Map<String, List<Line>> drawn = new LinkedHashMap<>();
        String missing = whyNoRedis();
        List<Row> rows = run.compare(WAYS.stream()
                .filter(way -> missing.isEmpty() || way.name().equals(LOCAL))
                .map(way -> new Contender(way.name(), () -> NOTHING, () -> measure(way, run, missing.isEmpty(), drawn)))
                .toList());
        return new Answer(
                        sentence(rows, ReplicasTrial.permits(run)),
                        columns(),
                        rows,
                        drawn.entrySet().stream()
                                .map(each ->
                                        new Chart(each.getKey(), "seconds", "calls at the partner", each.getValue()))
                                .toList(),
                        notes(run, missing))
                .withGantts(List.of(new Gantt("What happens in each run", ReplicasTrial.spans(run))))
                .withRight(right(rows, ReplicasTrial.permits(run)));
    }

    /** Empty if there is one. */
    String whyNoRedis() {
        try {
            ReplicaRedis.start().close();
            return "";
        } catch (IOException | RuntimeException failure) {
            return failure.toString();
        }
    }

    /** Everything is new each time: its replicas, its partner and its Redis. */
    private static Measurement measure(Way way, Run run, boolean hasRedis, Map<String, List<Line>> drawn)
            throws Exception {
        try (ReplicaRedis redis = hasRedis ? ReplicaRedis.start() : null) {
            ReplicasTrial trial = new ReplicasTrial(way.profile(), run);
            Measurement measured = trial.measure(way.name(), redis);
            drawn.put(way.name(), trial.lines());
            return measured;
        }
    }

    private static List<Column> columns() {
        List<Column> columns = new ArrayList<>(List.of(ReplicasTrial.RATE, ReplicasTrial.MOST));
        Stream.of(Part.values()).map(Part::column).forEach(columns::add);
        columns.add(ReplicasTrial.FAILED);
        return columns;
    }

    static String sentence(List<Row> rows, int permits) {
        return "Of %d permits, %s used %s while one replica was idle, %s after one was killed, %s without Redis. %s %s"
                .formatted(
                        permits,
                        names(rows),
                        used(rows, Part.ONE_IDLE),
                        used(rows, Part.ONE_KILLED),
                        used(rows, Part.REDIS_STOPPED),
                        verdict(rows, permits),
                        exceeded(rows, permits));
    }

    private static String names(List<Row> rows) {
        return listed(rows.stream().map(Row::name).toList());
    }

    private static String used(List<Row> rows, Part part) {
        return listed(rows.stream().map(row -> number(mean(row, part))).toList());
    }

    private static String listed(List<String> all) {
        return all.size() == 1
                ? all.getFirst()
                : String.join(", ", all.subList(0, all.size() - 1)) + " and " + all.getLast();
    }

    private static double mean(Row row, Part part) {
        return Math.round(row.median(part.column().key()) * 10) / 10.0;
    }

    private static String verdict(List<Row> rows, int permits) {
        List<String> busy = busy(rows, permits);
        String kept =
                "kept the partner busy each time, with at least %.0f %% of the permits in use.".formatted(BUSY * 100);
        if (busy.isEmpty()) {
            return "None of them " + kept;
        }
        return busy.size() == rows.size() ? "All of them " + kept : "Only %s %s".formatted(listed(busy), kept);
    }

    private static List<String> busy(List<Row> rows, int permits) {
        return rows.stream()
                .filter(row ->
                        AWAY.stream().allMatch(part -> row.median(part.column().key()) >= BUSY * permits))
                .map(Row::name)
                .toList();
    }

    private static String exceeded(List<Row> rows, int permits) {
        String exceeded = rows.stream()
                .filter(row -> most(row) > permits)
                .map(row -> "%s calls at once with %s".formatted(number(most(row)), row.name()))
                .collect(Collectors.joining(" and up to "));
        return exceeded.isEmpty()
                ? "The partner never had more than %d calls at once.".formatted(permits)
                : "The partner had up to %s: more than the permits.".formatted(exceeded);
    }

    /** Of all rounds: one that exceeds the permits is enough. */
    private static double most(Row row) {
        return row.figures().get(ReplicasTrial.MOST.key()).max();
    }

    /** None where several keep it busy, or where not all were measured. */
    static String right(List<Row> rows, int permits) {
        List<String> busy = busy(rows, permits);
        if (rows.size() < WAYS.size() || busy.size() > 1) {
            return "";
        }
        return busy.isEmpty() ? NONE : busy.getFirst();
    }

    static List<String> notes(Run run, String missing) {
        List<String> notes = new ArrayList<>();
        if (!missing.isEmpty()) {
            notes.add(
                    ("Redis does not start on this system, so only the local limits were measured. Shares and a permit for each"
                                    + " call are left out. The reason: %s")
                            .formatted(missing));
        }
        int each = run.get("permits");
        notes.add("All have the same %d permits: local limits have %d in each of %d replicas, the others share them."
                .formatted(ReplicasTrial.permits(run), each, ReplicasTrial.REPLICAS));
        notes.add(
                "Each figure of a part is the average of its last third, as the partner counted it. The parts follow each other every %d s. The lines are averages of 200 ms."
                        .formatted(run.get("seconds")));
        notes.add(
                ("Shares have cluster-permits and a lease of %d s, where the default is 10 s. What a killed replica had comes back"
                                + " after the lease, but for a third, which is kept for it. While Redis is stopped, each replica goes on with"
                                + " its share until the lease is over. Then it begins no call for another lease, and goes on with a"
                                + " third of the permits, as on-failure: local-share says.")
                        .formatted(ReplicasTrial.LEASE_SECONDS));
        notes.add(
                "A permit for each call is one of Redisson's RPermitExpirableSemaphore with its default settings and the same lease."
                        + " A permit whose lease is over is lent again, even while its call runs. With a longer lease that is"
                        + " rarer, and the permits of a killed replica come back later. Each call asks Redis, so none can begin"
                        + " without it. Redis keeps its data while it is stopped.");
        notes.add(
                ("Each replica is a JVM and has %d callers, each with one call at a time, which takes %d ms. A caller whose call"
                                + " failed waits for 100 ms. Replicas, Redis and the partner share %d cores.")
                        .formatted(
                                ReplicasTrial.permits(run),
                                run.get("millis"),
                                Runtime.getRuntime().availableProcessors()));
        return notes;
    }

    /** A contender, and the profile of its replicas. */
    private record Way(String name, String profile) {}
}
