package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

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
    private static final String LATER = "StartUp.later annotated=0";

    static final List<Goal> ALL = List.of(
            time("`ours-app` / `ours`", 1.15, JOINED, "ours-app", "ours"),
            time("`ours-app-metered` / `ours`", 1.35, JOINED, "ours-app-metered", "ours"),
            bytes("`ours-full` / `by-hand`, bytes", 0.85, JOINED, "ours-full", "by-hand"),
            time("`ours-full` / `async-pool`", 1.10, JOINED, "ours-full", "async-pool"),
            time("`ours-full` / `async-pool`, not joined", 1.10, "EmptyBody.notJoined", "ours-full", "async-pool"),
            bytes("`ours`, bytes of a call", 640, JOINED, "ours"),
            time("`ours-full` / `async-pool`, 30 MDC keys", 1.00, MANY_KEYS, "ours-full", "async-pool"),
            time("`ours-full` / `async-full`, 30 MDC keys", 1.00, MANY_KEYS, "ours-full", "async-full"),
            best("`ours-full` / the best other, body that waits for 1 ms", 1.02, "ParkingBody.burst"),
            bytes(
                    "heap of a waiting call, one map of three MDC keys for all",
                    200,
                    "Waiting.hold keys=3 map=shared",
                    "ours-full"),
            best("`ours-full` / the best other, making waiting calls", 1.00, "Waiting.start keys=3 map=shared"),
            handOver("1"),
            handOver("64"),
            bytes("`ours` / `floor`, bytes of a million sleeping calls", 1.15, "MillionSleepers.all", "ours", "floor"),
            start("first", "plain", 0, 1.05),
            // in milliseconds, as a start without anything is so short that 3 ms are a tenth of it
            new Goal(
                    "`ours` beyond `plain`, later start, annotated beans: 0",
                    3.00,
                    "ms",
                    report -> compared(
                            report.of(LATER, "ours"), report.of(LATER, "plain"), Figures::scores, Rounds::difference)),
            start("`ours-web` / `plain-web`, later start", 1.03, LATER, "ours-web", "plain-web"),
            start("first", "async", 100, 1.08),
            start("later", "async", 100, 1.08));

    private static Goal handOver(String permits) {
        return time(
                "`ours-full` / `async-full`, hand-over, 8 callers, permits: " + permits,
                1.05,
                "HandOver.callAndWait callers=8 permits=%s threads=platform".formatted(permits),
                "ours-full",
                "async-full");
    }

    private static Goal start(String start, String other, int annotated, double most) {
        return start(
                "`ours` / `%s`, %s start, annotated beans: %d".formatted(other, start, annotated),
                most,
                "StartUp.%s annotated=%d".formatted(start, annotated),
                "ours",
                other);
    }

    /** Where the times are as close to the goal as a run can tell, the bytes decide. */
    static Goal start(String what, double most, String measurement, String contender, String other) {
        return new Goal(what, most, "×", report -> {
            Optional<Figures> ours = report.of(measurement, contender);
            Optional<Figures> others = report.of(measurement, other);
            Optional<Rounds> times = ratio(ours, others, Figures::scores);
            return times.filter(rounds -> !rounds.isWithin(0.03, most)).or(() -> ratio(ours, others, Figures::bytes));
        });
    }

    private static Goal best(String what, double most, String measurement) {
        return new Goal(
                what,
                most,
                "×",
                report -> ratio(
                        report.of(measurement, "ours-full"),
                        best(report, measurement, Figures::scores),
                        Figures::scores));
    }

    static Goal time(String what, double most, String measurement, String contender, String other) {
        return ratio(what, most, measurement, contender, other, Figures::scores);
    }

    private static Goal bytes(String what, double most, String measurement, String contender, String other) {
        return ratio(what, most, measurement, contender, other, Figures::bytes);
    }

    private static Goal ratio(
            String what,
            double most,
            String measurement,
            String contender,
            String other,
            Function<Figures, List<Double>> values) {
        return new Goal(
                what,
                most,
                "×",
                report -> ratio(report.of(measurement, contender), report.of(measurement, other), values));
    }

    private static Goal bytes(String what, double most, String measurement, String contender) {
        return new Goal(what, most, "B", report -> report.of(measurement, contender)
                .map(figures -> new Rounds(figures.bytes(), 0))
                .filter(rounds -> !rounds.values().isEmpty()));
    }

    private static Optional<Rounds> ratio(
            Optional<Figures> contender, Optional<Figures> other, Function<Figures, List<Double>> values) {
        return compared(contender, other, values, Rounds::ratio);
    }

    private static Optional<Rounds> compared(
            Optional<Figures> contender,
            Optional<Figures> other,
            Function<Figures, List<Double>> values,
            BiFunction<List<Double>, List<Double>, Rounds> comparison) {
        return contender
                .flatMap(figures -> other.map(others -> comparison.apply(values.apply(figures), values.apply(others))))
                .filter(rounds -> !rounds.values().isEmpty());
    }

    /** The best of the others, by the median of those values. */
    static Optional<Figures> best(BenchReport report, String measurement, Function<Figures, List<Double>> values) {
        return OTHERS.stream()
                .flatMap(other -> report.of(measurement, other).stream())
                .min(Comparator.comparingDouble(each -> Rounds.median(values.apply(each))));
    }

    /** A line of a list; empty if the goal is reached. */
    String missed(BenchReport report) {
        return found.apply(report).map(this::missed).orElse("- %s: not measured\n".formatted(what));
    }

    private String missed(Rounds rounds) {
        double median = rounds.median();
        return median <= most
                ? ""
                : "- %s: %s %s, goal %s%s\n"
                        .formatted(what, Words.number(median), unit, Words.number(most), rounds.doubt(most));
    }
}
