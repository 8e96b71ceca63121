package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What is to be reached.
 *
 * @param what which figure
 * @param most the highest that is good
 * @param unit behind the number
 * @param found looks the figure up
 */
record Target(String what, double most, String unit, ToDoubleFunction<BenchReport> found) {

    static final List<Target> ALL = List.of(
            time("`ours`, time compared with `floor`", 1.10, "EmptyBody.burst", "ours", "floor"),
            bytes("`ours`, bytes of a call", 640, "EmptyBody.burst", "ours"),
            time("`ours-full`, time compared with `async-full`", 1.25, "EmptyBody.burst", "ours-full", "async-full"),
            bytes("`ours-full`, bytes of a call", 1_150, "EmptyBody.burst", "ours-full"),
            time(
                    "`ours-metered`, time compared with `ours-full`",
                    1.30,
                    "EmptyBody.burst",
                    "ours-metered",
                    "ours-full"),
            time(
                    "body that waits 1 ms, time compared with `async-full`",
                    1.00,
                    "ParkingBody.burst",
                    "ours-full",
                    "async-full"),
            bytes("heap of a waiting call", 360, "Waiting.hold", "ours-full"),
            time(
                    "making waiting calls, time compared with `async-full`",
                    0.20,
                    "Waiting.start",
                    "ours-full",
                    "async-full"),
            time("a million calls, time compared with `jdk`", 1.10, "MillionSleepers.all", "ours", "jdk"),
            time("hand-over, one permit, time compared with `async-full`", 1.00, "HandOver.callAndWait", "permits=1"),
            time("hand-over, 64 permits, time compared with `async-full`", 1.00, "HandOver.callAndWait", "permits=64"),
            startUp("first start, 100 of 1,000 beans annotated, compared with `async`", 1.05, "first", "async", 100),
            startUp("first start, none annotated, compared with `plain`", 1.02, "first", "plain", 0),
            startUp("later start, 100 of 1,000 beans annotated, compared with `async`", 1.05, "later", "async", 100),
            startUp("later start, none annotated, compared with `plain`", 1.02, "later", "plain", 0),
            new Target("the jar", 200, "kB", report -> report.jar().bytes() / 1_000.0));

    static Target time(String what, double most, String benchmark, String contender, String other) {
        return new Target(what, most, "×", report -> ratio(report, benchmark, contender, other, ""));
    }

    /** For benchmarks with a setting: ours against the usual way. */
    private static Target time(String what, double most, String benchmark, String setting) {
        return new Target(what, most, "×", report -> ratio(report, benchmark, "ours-full", "async-full", setting));
    }

    private static Target startUp(String what, double most, String start, String other, int annotated) {
        return new Target(
                what, most, "×", report -> ratio(report, "StartUp." + start, "ours", other, "annotated=" + annotated));
    }

    private static Target bytes(String what, double most, String benchmark, String contender) {
        return new Target(
                what,
                most,
                "B",
                report -> BenchReport.median(report.of(benchmark, contender, "").bytes()));
    }

    private static double ratio(BenchReport report, String benchmark, String contender, String other, String setting) {
        Figures ours = report.of(benchmark, contender, setting);
        return BenchReport.ratio(
                ours.scores(), report.of(benchmark, other, setting).scores());
    }

    /** What is found is compared as it is shown: of a call's bytes, a tenth is that of the burst. */
    String row(BenchReport report) {
        double decimals = unit.equals("×") ? 100 : 1;
        double value = Math.rint(found.applyAsDouble(report) * decimals) / decimals;
        return "| %s | %s %s | %s %s | %s |\n"
                .formatted(
                        what,
                        PerformancePage.number(most),
                        unit,
                        PerformancePage.number(value),
                        unit,
                        value <= most ? "reached" : "missed");
    }
}
