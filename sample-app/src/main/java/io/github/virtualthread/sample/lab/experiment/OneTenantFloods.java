package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
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
import io.github.virtualthread.sample.lab.Sampler;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** One tenant makes thousands of calls at once, and others, who share a limit with it, a few. */
@Component
@Order(90)
class OneTenantFloods implements Experiment {

    static final String ONE_QUEUE = "one queue";
    static final String TURNS = "turns";
    static final String WEIGHT = "turns and a weight";
    static final String CAP = "turns and a cap";

    static final String BEHIND = "Most of the flood, in all four";
    static final String ONLY_A_CAP = "Most of the flood, unless it has a cap";
    static final String TURNS_SUFFICE = "With turns hardly at all";

    static final Column WAITED = new Column(Latencies.P50.key(), "median wait of others", "ms");
    private static final Column WAITED_99 = new Column(Latencies.P99.key(), "99th percentile", "ms");
    private static final Column WAITED_MOST = new Column(Latencies.MOST.key(), "maximum", "ms");
    private static final Column OTHERS_DONE = new Column("others", "others done", "per second");
    static final Column FLOOD_DONE = new Column("flood", "flood done", "per second");

    private static final String CAPPED = "capped-tenants";
    private static final int WARM_UP_FLOOD = 200;
    private static final int WARM_UP_OTHERS = 20;

    private final TenantCalls calls;
    private final TaskLimits limits;

    OneTenantFloods(TenantCalls calls, TaskLimits limits) {
        this.calls = calls;
        this.limits = limits;
    }

    @Override
    public About about() {
        return new About(
                "one-tenant-floods",
                Act.LIMIT_THE_RESOURCE,
                "One tenant floods",
                "One tenant makes thousands of calls at once. How long do the other tenants under the same limit wait?",
                List.of(BEHIND, ONLY_A_CAP, TURNS_SUFFICE),
                List.of(
                        new Parameter("flood", "Calls of one tenant", "", 1, 20_000, 5_000, 1_000),
                        new Parameter("others", "Other tenants", "", 1, 20, 10, 10),
                        new Parameter("rate", "Their calls together", "per second", 1, 1_000, 100, 100),
                        new Parameter("seconds", "The others call for", "s", 1, 20, 4, 1),
                        new Parameter("millis", "Each takes", "ms", 1, 100, 20, 20),
                        new Parameter("cap", "permits-per-key of the cap", "", 1, 20, 5, 5),
                        Parameter.ROUNDS),
                "How large a cap should be. The lower it is, the longer the flood takes, even while nobody else calls. If"
                        + " many tenants flood at once, turns share the permits among them, and each waits for its share: a"
                        + " limit adds no capacity.",
                Source.of(TenantCalls.class),
                """
                virtual-thread:
                  limits:
                    tenants:
                      permits: 20
                    weighted-tenants:
                      permits: 20
                      key-weights: {flood: 0.1}
                    capped-tenants:
                      permits: 20
                      permits-per-key: 5""",
                "",
                56,
                8,
                "calls of the others done");
    }

    @Override
    public Answer run(Run run) throws Exception {
        TaskLimit capped = limits.get(CAPPED);
        int before = capped.permitsPerKey();
        capped.setPermitsPerKey(run.get("cap"));
        try {
            Map<String, Line> waits = new LinkedHashMap<>();
            List<Row> rows = run.compare(Stream.of(
                            new Way(ONE_QUEUE, calls::inOneQueue),
                            new Way(TURNS, calls::inTurns),
                            new Way(WEIGHT, calls::weighted),
                            new Way(CAP, calls::capped))
                    .map(way -> contender(way, run, waits))
                    .toList());
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, run),
                            List.of(WAITED, WAITED_99, WAITED_MOST, OTHERS_DONE, FLOOD_DONE),
                            rows,
                            List.of(new Chart(
                                    "How long each call of the others waited, by when it was made",
                                    "seconds",
                                    "ms",
                                    List.copyOf(waits.values()))),
                            notes(capped))
                    .withRight(right(rows, run.get("millis"), ranges), ranges.open());
        } finally {
            capped.setPermitsPerKey(before);
        }
    }

    private static Contender contender(Way way, Run run, Map<String, Line> waits) {
        Duration time = Duration.ofMillis(run.get("millis"));
        int others = run.get("others");
        int rate = run.get("rate");
        return new Contender(
                way.name(), () -> new Flood(way, time, others, rate).measure(WARM_UP_FLOOD, WARM_UP_OTHERS), () -> {
                    Flood flood = new Flood(way, time, others, rate);
                    Sampler sampler = Sampler.every(
                            Duration.ofMillis(100), seconds -> run.point(way.name(), seconds, flood.othersDone.get()));
                    try {
                        return flood.measure(run.get("flood"), rate * run.get("seconds"));
                    } finally {
                        sampler.end();
                        waits.put(way.name(), new Line(way.name(), List.copyOf(flood.waits)));
                    }
                });
    }

    private static String sentence(List<Row> rows, Run run) {
        return ("Beside %,d calls of one tenant, half of the calls of %d others waited at most %s ms in one queue, %s ms"
                        + " with turns, %s ms with a weight, and %s ms with a cap of %d. Meanwhile %s, %s and %s calls of the flood"
                        + " were done per second in one queue, with turns and with a cap.")
                .formatted(
                        run.get("flood"),
                        run.get("others"),
                        figure(rows, ONE_QUEUE, WAITED),
                        figure(rows, TURNS, WAITED),
                        figure(rows, WEIGHT, WAITED),
                        figure(rows, CAP, WAITED),
                        run.get("cap"),
                        figure(rows, ONE_QUEUE, FLOOD_DONE),
                        figure(rows, TURNS, FLOOD_DONE),
                        figure(rows, CAP, FLOOD_DONE));
    }

    private static String figure(List<Row> rows, String name, Column column) {
        return number(Row.named(rows, name).median(column.key()));
    }

    /** None, if the others do not wait in one queue: then it was no flood. */
    static String right(List<Row> rows, int millis, Ranges ranges) {
        Row queue = Row.named(rows, ONE_QUEUE);
        Row turns = Row.named(rows, TURNS);
        Row cap = Row.named(rows, CAP);
        if (queue.median(WAITED.key()) < 10 * millis) {
            return "";
        }
        if (isTenTimes(queue, turns, ranges)) {
            return TURNS_SUFFICE;
        }
        if (ranges.isMore(queue, turns, WAITED)) {
            return "";
        }
        return isTenTimes(queue, cap, ranges) ? ONLY_A_CAP : ranges.isAlike(queue, cap, WAITED) ? BEHIND : "";
    }

    private static boolean isTenTimes(Row queue, Row other, Ranges ranges) {
        return ranges.isMore(
                queue.name(),
                queue.figure(WAITED),
                "10 times " + other.name(),
                other.figure(WAITED).times(10));
    }

    private static List<String> notes(TaskLimit capped) {
        return List.of(
                "All limits have %d permits. One tenant makes all its calls at once; the others then call at a steady rate."
                        .formatted(capped.permits()),
                "The chart has a point for each call of the others, of the last round. In one queue a call waits for all calls"
                        + " that were made before it, so the line falls while the flood drains. With turns a call waits until"
                        + " one of the running calls ends.",
                "With a weight of 0.1 one call of the flood runs in ten rounds. A weight shares out permits for which others wait: it"
                        + " helps the others only if they need more than turns give them, such as 2 others with 700 calls per"
                        + " second together.",
                "With a cap the other permits stay free for the others, and the flood takes longer. Each of the others has the same cap.",
                "Done per second: calls that were done while the others called. What is left of the flood after that is cancelled.");
    }

    /** One way to call. */
    private record Way(String name, Call call) {}

    @FunctionalInterface
    private interface Call {

        /** Returns when it began, in the time of {@link System#nanoTime()}. */
        CompletableFuture<Long> of(String tenant, Duration time) throws InterruptedException;
    }

    /** The calls of all tenants, once. */
    private static final class Flood {

        private final Way way;
        private final Duration time;
        private final int tenants;
        private final long interval;
        private final AtomicInteger othersDone = new AtomicInteger();
        private final AtomicInteger floodDone = new AtomicInteger();
        private final List<double[]> waits = new ArrayList<>();
        private final List<CompletableFuture<Long>> made = new ArrayList<>();

        Flood(Way way, Duration time, int tenants, int rate) {
            this.way = way;
            this.time = time;
            this.tenants = tenants;
            this.interval = 1_000_000_000L / rate;
        }

        Measurement measure(int flood, int others) throws Exception {
            try {
                long begin = System.nanoTime();
                for (int i = 0; i < flood; i++) {
                    call("flood", floodDone);
                }
                var flooded = CompletableFuture.allOf(made.toArray(CompletableFuture<?>[]::new))
                        .thenApply(all -> System.nanoTime());
                long[] asked = new long[others];
                for (int i = 0; i < others; i++) {
                    Pace.await(begin + i * interval);
                    asked[i] = System.nanoTime();
                    call("tenant-" + i % tenants, othersDone);
                }
                Pace.await(begin + others * interval);
                long now = System.nanoTime();
                Measurement measured = Measurement.of(OTHERS_DONE.key(), othersDone.get() / seconds(now - begin))
                        .and(FLOOD_DONE.key(), floodDone.get() / seconds(flooded.getNow(now) - begin));
                Latencies latencies = new Latencies();
                for (int i = 0; i < others; i++) {
                    long waited = Math.max(0, made.get(flood + i).get() - asked[i]);
                    latencies.add(waited);
                    waits.add(new double[] {seconds(asked[i] - begin), waited / 1e6});
                }
                return latencies.addTo(measured);
            } finally {
                made.forEach(call -> call.cancel(true));
            }
        }

        private void call(String tenant, AtomicInteger done) throws InterruptedException {
            CompletableFuture<Long> future = way.call().of(tenant, time);
            made.add(future);
            var unused = future.thenRun(done::incrementAndGet);
        }

        private static double seconds(long nanos) {
            return nanos / 1e9;
        }
    }
}
