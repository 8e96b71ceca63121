package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The beginning of the page: what an application notices of all this. */
final class Noticed {

    static final Map<String, String> NAMES = Map.of(
            "plain", "no starter",
            "plain-web", "no starter",
            "by-hand", "written by hand",
            "async", "`@Async`",
            "async-pool", "`@Async`, pool",
            "async-limited", "`@Async`, its executor's own limit",
            "async-full", "`@Async`, bulkhead",
            "ours-async", "`@Async`, `virtual-thread.async.limit`",
            "spring-7", "`@Async`, `@ConcurrencyLimit`");

    private final BenchReport report;
    private final StringBuilder rows = new StringBuilder();

    private Noticed(BenchReport report) {
        this.report = report;
    }

    static String of(BenchReport report) {
        Noticed noticed = new Noticed(report);
        noticed.limited("a call whose body waits for 1 ms, 64 at a time", "ParkingBody.burst");
        noticed.plain("an HTTP request whose parts take up to 200 ms", "Request.page", "ours", "async");
        noticed.plain("the first start, nothing annotated", "StartUp.first annotated=0", "ours", "plain");
        noticed.plain("a later start, nothing annotated", "StartUp.later annotated=0", "ours", "plain");
        noticed.plain("the same with web and Actuator, too", "StartUp.later annotated=0", "ours-web", "plain-web");
        noticed.plain("the first start, 100 of 1,000 beans annotated", "StartUp.first annotated=100", "ours", "async");
        noticed.plain("a later start, 100 of 1,000 beans annotated", "StartUp.later annotated=100", "ours", "async");
        noticed.heap("heap of a waiting call with three MDC keys of its own", "Waiting.hold keys=3 map=own");
        noticed.limited("making a call that has to wait", "Waiting.start keys=3 map=shared");
        noticed.limited(
                "a caller that waits for its call; a permit is free",
                "HandOver.callAndWait callers=8 permits=64 threads=platform");
        noticed.limited(
                "the same; eight callers share one permit",
                "HandOver.callAndWait callers=8 permits=1 threads=platform");
        noticed.limited("a call whose body returns at once, under a limit", "EmptyBody.joined");
        noticed.plain("the same, compared with its parts", "EmptyBody.joined", "ours-full", "by-hand");
        noticed.plain(
                "the same without a limit, in an application as people have it",
                "EmptyBody.joined",
                "ours-app",
                "async");
        noticed.plain(
                "`@Async` under `virtual-thread.async.limit`, body that waits for 1 ms, 64 at a time",
                "ParkingBody.burst",
                "ours-async",
                "async-limited");
        return """
                ## What you will notice

                | | `@VirtualThread` | compared with | | ratio | rounds |
                |---|---|---|---|---|---|
                %s
                With a limit, the comparison is with the best of the others that have one, and all carry the MDC. A ratio compares
                two figures of one round; the page shows the median. *Rounds* are those on the same side of 1 as the median. If fewer than
                four of five agree, the difference is not proven.

                - **A waiting call** is an object in a queue, as in a pool. With a bulkhead or `@ConcurrencyLimit` it is a thread with a stack.
                - **Each call has a new thread.** A [pool](compare.md#async-with-threadpooltaskexecutorsetvirtualthreadstrue) reuses its threads.
                  When a call ends, its permit starts the thread of the next one; a bulkhead wakes up a thread that already waits.
                %s\
                """.formatted(noticed.rows, share(report));
    }

    /** An empty body beside one that does something. */
    private static String share(BenchReport report) {
        return report.of("EmptyBody.joined", "ours-full")
                .map(figures -> "- **A body that returns at once** is rare: %s are %.2f %% of a query of 1 ms.\n"
                        .formatted(Words.time(figures), Rounds.median(figures.scores()) / 1e4))
                .orElse("");
    }

    private void plain(String what, String measurement, String contender, String other) {
        add(what, report.of(measurement, contender), report.of(measurement, other), Words::time, Figures::scores);
    }

    /** Against the best of those that have a limit, too. */
    private void limited(String what, String measurement) {
        compare(what, measurement, Words::time, Figures::scores);
    }

    private void heap(String what, String measurement) {
        compare(what, measurement, Words::bytes, Figures::bytes);
    }

    private void compare(
            String what, String measurement, Function<Figures, String> shown, Function<Figures, List<Double>> values) {
        add(what, report.of(measurement, "ours-full"), Goal.best(report, measurement, values), shown, values);
    }

    private void add(
            String what,
            Optional<Figures> ours,
            Optional<Figures> other,
            Function<Figures, String> shown,
            Function<Figures, List<Double>> values) {
        if (ours.isPresent() && other.isPresent()) {
            Rounds ratio = Rounds.ratio(values.apply(ours.get()), values.apply(other.get()));
            rows.append("| %s | %s | %s | %s | %s × | %s |\n"
                    .formatted(
                            what,
                            shown.apply(ours.get()),
                            NAMES.get(other.get().parameters().get("contender")),
                            shown.apply(other.get()),
                            Words.number(ratio.median()),
                            ratio.agreement(1) + ratio.doubt(1)));
        }
    }
}
