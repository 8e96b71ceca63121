package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What is to be reached.
 *
 * @param what which figure
 * @param most the highest that is good
 * @param unit behind the number
 * @param found looks the figure up; empty if it was not measured
 */
record Goal(String what, double most, String unit, Function<BenchReport, Optional<Rounds>> found) {

    /** Those that have a limit, too. */
    private static final List<String> OTHERS = List.of("async-pool", "async-full", "spring-7");

    private static final String JOINED = "EmptyBody.joined";
    private static final String MANY_KEYS = "EmptyBody.manyKeys";
    private static final String PARKING = "ParkingBody.burst";

    static final List<Goal> ALL = Stream.of(
                    Stream.of(
                            time("`ours-app` / `ours`", 1.10, JOINED, "ours-app", "ours"),
                            time("`ours-app-metered` / `ours`", 1.30, JOINED, "ours-app-metered", "ours")),
                    empty("joined", ""),
                    empty("notJoined", ", not joined"),
                    Stream.of(
                            bytes("`ours`, bytes of a call", 640, JOINED, "ours"),
                            bytes("`ours-full`, bytes of a call", 950, JOINED, "ours-full"),
                            time("`ours-full` / `async-pool`, 30 MDC keys", 1.00, MANY_KEYS, "ours-full", "async-pool"),
                            time("`ours-full` / `async-full`, 30 MDC keys", 1.00, MANY_KEYS, "ours-full", "async-full"),
                            new Goal(
                                    "`ours-full` / the best other, body that waits for 1 ms",
                                    1.02,
                                    "×",
                                    report -> ratio(
                                            report.of(PARKING, "ours-full"), best(report, PARKING, Figures::scores))),
                            bytes(
                                    "heap of a waiting call, one map of three MDC keys for all",
                                    200,
                                    "Waiting.hold keys=3 map=shared",
                                    "ours-full"),
                            time(
                                    "`ours-full` / `async-full`, making waiting calls",
                                    0.15,
                                    "Waiting.start keys=3 map=shared",
                                    "ours-full",
                                    "async-full"),
                            handOver("1"),
                            handOver("64"),
                            time(
                                    "`ours` / `floor`, a million sleeping calls",
                                    1.10,
                                    "MillionSleepers.all",
                                    "ours",
                                    "floor"),
                            start("first", "plain", 0, 1.05),
                            start("later", "plain", 0, 1.10),
                            start("first", "async", 100, 1.08),
                            start("later", "async", 100, 1.08),
                            new Goal("classes in the jar", 480, "kB", Goal::classes)))
            .flatMap(goals -> goals)
            .toList();

    /** Bodies that return at once. */
    private static Stream<Goal> empty(String benchmark, String remark) {
        String measurement = "EmptyBody." + benchmark;
        return Stream.of(
                time("`ours` / `floor`" + remark, 1.25, measurement, "ours", "floor"),
                time("`ours-full` / `async-full`" + remark, 0.90, measurement, "ours-full", "async-full"),
                time("`ours-full` / `async-pool`" + remark, 1.10, measurement, "ours-full", "async-pool"));
    }

    private static Goal handOver(String permits) {
        return time(
                "`ours-full` / `async-full`, hand-over, 8 callers, permits: " + permits,
                1.00,
                "HandOver.callAndWait callers=8 permits=%s threads=platform".formatted(permits),
                "ours-full",
                "async-full");
    }

    private static Goal start(String start, String other, int annotated, double most) {
        return time(
                "`ours` / `%s`, %s start, annotated beans: %d".formatted(other, start, annotated),
                most,
                "StartUp.%s annotated=%d".formatted(start, annotated),
                "ours",
                other);
    }

    static Goal time(String what, double most, String measurement, String contender, String other) {
        return new Goal(
                what, most, "×", report -> ratio(report.of(measurement, contender), report.of(measurement, other)));
    }

    private static Goal bytes(String what, double most, String measurement, String contender) {
        return new Goal(what, most, "B", report -> report.of(measurement, contender)
                .map(figures -> new Rounds(figures.bytes(), 0))
                .filter(rounds -> !rounds.values().isEmpty()));
    }

    private static Optional<Rounds> ratio(Optional<Figures> contender, Optional<Figures> other) {
        return contender.flatMap(figures -> other.map(others -> Rounds.ratio(figures.scores(), others.scores())));
    }

    /** The best of the others, by the median of those values. */
    static Optional<Figures> best(BenchReport report, String measurement, Function<Figures, List<Double>> values) {
        return OTHERS.stream()
                .flatMap(other -> report.of(measurement, other).stream())
                .min(Comparator.comparingDouble(each -> Rounds.median(values.apply(each))));
    }

    private static Optional<Rounds> classes(BenchReport report) {
        long bytes = report.jar().parts().stream()
                .filter(part -> part.name().startsWith("io."))
                .mapToLong(BenchReport.Jar.Part::bytes)
                .sum();
        return Optional.of(new Rounds(List.of(bytes / 1_000.0), 0));
    }

    /** A line of a list; empty if the goal is reached. */
    String missed(BenchReport report) {
        return found.apply(report).map(this::missed).orElse("- %s: not measured\n".formatted(what));
    }

    private String missed(Rounds rounds) {
        double median = rounds.median();
        // a jar is measured once
        String doubt = unit.equals("kB") ? "" : rounds.doubt(most);
        return median <= most
                ? ""
                : "- %s: %s %s, goal %s%s\n".formatted(what, Words.number(median), unit, Words.number(most), doubt);
    }
}
