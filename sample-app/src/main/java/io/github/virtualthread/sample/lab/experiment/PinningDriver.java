package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** A driver that blocks inside {@code synchronized}, on a Java where that pins and on this one. */
@Component
@Order(55)
class PinningDriver implements Experiment {

    static final String LARGER = "The larger limit does more, on every Java";
    static final String THE_SAME = "On Java 21 both do the same: what the carriers can";
    static final String NEITHER = "Neither does anything: all threads are pinned";

    /** From here on {@code synchronized} pins no more (JEP 491). */
    private static final int FREE = 24;

    private static final Duration WARM_UP = Duration.ofMillis(300);
    private static final Duration LOOK = Duration.ofMillis(50);

    private final Java21 java21;

    PinningDriver(Java21 java21) {
        this.java21 = java21;
    }

    @Override
    public About about() {
        return new About(
                "pinning-driver",
                Act.THE_QUEUE_HAS_MOVED,
                "A driver that pins",
                "A driver waits for the database inside synchronized, or in native code. How many queries per second does it do under a small limit,"
                        + " and under a large one?",
                List.of(LARGER, THE_SAME, NEITHER),
                List.of(
                        new Parameter("few", "Permits of the small limit", "", 1, 1_000, 10, 10),
                        new Parameter("many", "Permits of the large limit", "", 1, 1_000, 100, 100),
                        new Parameter("carriers", "Carriers", "", 1, 64, 2, 2),
                        new Parameter("millis", "A query takes", "ms", 10, 5_000, 250, 100),
                        new Parameter("seconds", "Each is measured for", "s", 1, 30, 3, 1),
                        Parameter.ROUNDS),
                "Whether your driver pins. Here a call that sleeps inside synchronized stands for a driver, and there is no"
                        + " database. Many drivers now use locks of java.util.concurrent, which pin on no Java version.",
                Source.of(PinningQueries.class),
                """
                virtual-thread:
                  limits:
                    driver:
                      permits: 10""",
                "",
                45,
                15,
                "queries done");
    }

    @Override
    public Answer run(Run run) throws Exception {
        boolean free = Runtime.version().feature() >= FREE;
        Optional<Path> home = free ? java21.home() : Optional.empty();
        run.progress(0, home.isPresent() ? "Starting two JVMs" : "Starting a JVM");
        try (ChildJvm old = home.isPresent() ? ChildJvm.start(home.get(), PinningServer.class, options(run)) : null;
                ChildJvm current = ChildJvm.start(PinningServer.class, options(run))) {
            List<Contender> contenders = new ArrayList<>();
            for (ChildJvm jvm : old == null ? List.of(current) : List.of(old, current)) {
                String java = "Java " + jvm.ask(PinningServer.JAVA);
                limits(run).forEach(limit -> contenders.add(contender(name(java, limit), jvm, limit, false, run)));
            }
            boolean inNativeCode = Boolean.parseBoolean(current.ask(PinningServer.NATIVE));
            if (inNativeCode) {
                String java = "Java %s, native sleep".formatted(current.ask(PinningServer.JAVA));
                contenders.add(contender(name(java, run.get("many")), current, run.get("many"), true, run));
            }
            List<Row> rows = run.compare(contenders);
            Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
            return new Answer(
                            sentence(rows, run),
                            List.of(
                                    PinningRound.RATE,
                                    PinningRound.DONE,
                                    PinningRound.FAILED,
                                    PinningRound.AT_ONCE,
                                    PinningRound.CARRIERS,
                                    Latencies.P50,
                                    Latencies.P99,
                                    Latencies.MOST),
                            rows,
                            List.of(),
                            notes(run, free, home.isPresent(), inNativeCode))
                    .withRight(old == null && free ? "" : right(rows, ranges), ranges.open());
        }
    }

    private static List<String> options(Run run) {
        int carriers = run.get("carriers");
        return List.of(
                "-Djdk.virtualThreadScheduler.parallelism=" + carriers,
                "-Djdk.virtualThreadScheduler.maxPoolSize=" + carriers,
                "-Xmx128m",
                "-Dspring.main.banner-mode=off",
                "-Dlogging.level.root=warn");
    }

    /** One, where both are the same. */
    private static List<Integer> limits(Run run) {
        return Stream.of(run.get("few"), run.get("many")).distinct().toList();
    }

    private static String name(String java, int limit) {
        return "%s, limit of %d".formatted(java, limit);
    }

    private static Contender contender(String name, ChildJvm jvm, int limit, boolean inNativeCode, Run run) {
        String start = "%s %d %d %s".formatted(PinningServer.START, limit, run.get("millis"), inNativeCode);
        return new Contender(name, () -> warmUp(jvm, start), () -> measure(name, jvm, start, run));
    }

    private static Measurement warmUp(ChildJvm jvm, String start) throws InterruptedException {
        jvm.ask(start);
        Thread.sleep(WARM_UP);
        return stop(jvm);
    }

    private static Measurement measure(String name, ChildJvm jvm, String start, Run run) throws InterruptedException {
        jvm.ask(start);
        long begin = System.nanoTime();
        double seconds = 0;
        while (seconds < run.get("seconds")) {
            Thread.sleep(LOOK);
            seconds = (System.nanoTime() - begin) / 1e9;
            run.point(name, seconds, Integer.parseInt(jvm.ask(PinningServer.DONE)));
        }
        return stop(jvm);
    }

    private static Measurement stop(ChildJvm jvm) throws InterruptedException {
        return new Measurement(Stream.of(jvm.ask(PinningServer.STOP).split(" "))
                .map(figure -> figure.split("="))
                .collect(Collectors.toMap(figure -> figure[0], figure -> Double.parseDouble(figure[1]))));
    }

    private static String sentence(List<Row> rows, Run run) {
        String found = rows.stream()
                .filter(row -> row.name().endsWith(" " + run.get("many")))
                .map(row -> "%s with %s"
                        .formatted(
                                number(row.median(PinningRound.RATE.key())),
                                row.name().replace(",", "")))
                .collect(Collectors.joining("; "));
        int carriers = run.get("carriers");
        double each = 1e3 / run.get("millis");
        return "%d carriers that pin do %s queries per second. Measured: %s."
                .formatted(carriers, number(carriers * each), found);
    }

    /** Of rows that begin with the small and the large limit on a Java that pins. */
    static String right(List<Row> rows, Ranges ranges) {
        if (rows.size() < 2) {
            return "";
        }
        Row few = rows.get(0);
        Row many = rows.get(1);
        if (many.median(PinningRound.RATE.key()) == 0) {
            return NEITHER;
        }
        if (ranges.isMore(many, few, PinningRound.RATE)) {
            return LARGER;
        }
        return ranges.isAlike(many, few, PinningRound.RATE) ? THE_SAME : "";
    }

    private static List<String> notes(Run run, boolean free, boolean found, boolean inNativeCode) {
        List<String> notes = new ArrayList<>();
        if (!free) {
            notes.add(
                    "This Java is one that pins, so there is no other one to compare it with: run the sample on %d or later."
                            .formatted(FREE));
        } else if (!found) {
            notes.add(
                    ("No Java 21, 22 or 23 was found, so only this one is measured, on which synchronized does not pin. Looked"
                                    + " for by %s. Name one by -D%s=<its home>.")
                            .formatted(Java21.places(), Java21.PROPERTY));
        }
        notes.add(
                inNativeCode
                        ? "The native sleep is usleep of the C library, called by the foreign-function interface. It keeps its carrier"
                                + " on every Java, and no limit changes that."
                        : "A sleep in native code was not measured: it needs Java %d and the function usleep."
                                .formatted(NativeSleep.FIRST_JAVA));
        notes.add(
                ("Each Java runs in a JVM of its own with %d carriers (jdk.virtualThreadScheduler.parallelism and maxPoolSize)."
                                + " They share %d cores with this one, but queries only sleep.")
                        .formatted(run.get("carriers"), Runtime.getRuntime().availableProcessors()));
        notes.add(
                "There are always twice as many calls as permits, so half of them wait for a permit. Times cover the queries that"
                        + " were done, from the call on.");
        notes.add(
                "Most at once: how many queries were inside the driver. If it is below the limit, calls that wait for a carrier hold"
                        + " permits.");
        return notes;
    }
}
