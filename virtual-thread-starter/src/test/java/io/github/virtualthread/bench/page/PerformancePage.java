package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A report as the page of the documentation, and as the parts of decisions that have figures. */
final class PerformancePage {

    private static final Map<String, String> CONTENDERS = Map.of(
            "jdk", "`Executors.newVirtualThreadPerTaskExecutor()`, no proxy",
            "floor", "a proxy with minimal advice that runs a method on such an executor and returns a future",
            "async", "`@Async` on virtual threads",
            "async-full",
                    "`@Async` on virtual threads, with a `TaskDecorator` for the MDC and Resilience4j's semaphore bulkhead",
            "spring-7", "the same, with Spring's own `@ConcurrencyLimit` instead of the bulkhead",
            "ours", "`@VirtualThread`",
            "ours-full", "`@VirtualThread` with three MDC keys and a limit",
            "ours-metered", "the same with meters");

    private PerformancePage() {}

    static String of(BenchReport report) {
        return """
                # Performance

                A test compares all figures with those measured, in `performance.json`.

                """
                + noticed(report)
                + method(report)
                + table(
                        "A call whose body returns at once",
                        "10,000 calls, then joined. Limits have 64 permits.",
                        report.of("EmptyBody.burst"))
                + table(
                        "A call whose body waits for 1 ms",
                        "10,000 calls under a limit of 64, then joined.",
                        report.of("ParkingBody.burst"))
                + table(
                        "A request that waits for its call",
                        "Eight callers. Each waits for the result of its call before it makes the next one.",
                        report.of("HandOver.callAndWait"))
                + table(
                        "Making calls that have to wait",
                        "300,000 calls under a limit of 64. None of them ends during the measurement.",
                        report.of("Waiting.start"))
                + table(
                        "Heap of waiting calls",
                        "The heap per call of the calls above, with three MDC keys of its own. The time is that of measuring.",
                        report.of("Waiting.hold"))
                + table(
                        "A million calls",
                        "Each sleeps for one second, all at once. Time and bytes are those of all calls together. Each stack has the frames"
                                + " of a proxy, except with `jdk`.",
                        report.of("MillionSleepers.all"))
                + table(
                        "The first start of a JVM",
                        "Start and stop of an application with `spring-boot-starter` and 1,000 beans, each of its own class. Some beans have an"
                                + " annotated method; no property is set. `plain` has nothing more, `async` has `@EnableAsync`, `ours` has"
                                + " the starter on the classpath. The time is processor time of all threads.",
                        report.of("StartUp.first"))
                + table(
                        "Later starts",
                        "The same start, repeated in one JVM, as in tests and reloads.",
                        report.of("StartUp.later"))
                + """

                ## More

                Decisions have the reasons: for the [jar of %,d kB](decisions/0010-size-of-the-jar.md), the
                [targets of calls](decisions/0011-a-table-for-the-calls-that-run.md#targets), the
                [cost of a start](decisions/0012-what-a-start-costs.md) and the [size of a call](decisions/0009-one-object-for-a-call.md).
                """.formatted(Math.round(report.jar().bytes() / 1_000.0));
    }

    /** What an application notices of all this. */
    private static String noticed(BenchReport report) {
        return """
                ## What you will notice

                | | `@VirtualThread` with a limit | `@Async`, decorator, bulkhead |
                |---|---|---|
                """
                + noticed("a call whose body waits for 1 ms, 64 at a time", report, "ParkingBody.burst", "")
                + noticed(
                        "a request that waits for its call; a permit is free",
                        report,
                        "HandOver.callAndWait",
                        "permits=64")
                + noticed("the same; eight requests share one permit", report, "HandOver.callAndWait", "permits=1")
                + noticed("making a call that has to wait", report, "Waiting.start", "")
                + "| heap of a waiting call | %s B | %s B |\n"
                        .formatted(heap(report, "ours-full"), heap(report, "async-full"))
                + noticed("a call whose body returns at once", report, "EmptyBody.burst", "")
                + """

                Both carry three MDC keys. The last row is %.2f %% of a query of 1 ms. A `@VirtualThread` without limit and MDC takes %s and
                allocates %s B.

                - **Waiting calls** are cheap: they are objects in a queue. With the others each of them is a thread with a stack.
                - **A full limit** costs more time per call: the end of one call starts the thread of the next. The others wake up a thread that
                  already waits.
                - **A start** takes longer because the starter binds its properties, makes about twenty beans and looks for annotations in every
                  class.
                - A [pool of Spring 6.2](compare.md#async-with-threadpooltaskexecutorsetvirtualthreadstrue) also queues calls as objects. It limits one executor and
                  carries no context, so it is not measured here.

                """.formatted(
                                BenchReport.median(report.of("EmptyBody.burst", "ours-full", "")
                                                .scores())
                                        / 1e4,
                                time(report.of("EmptyBody.burst", "ours", "")),
                                number(BenchReport.median(
                                        report.of("EmptyBody.burst", "ours", "").bytes())));
    }

    private static String noticed(String what, BenchReport report, String benchmark, String setting) {
        return "| %s | %s | %s |\n"
                .formatted(
                        what,
                        time(report.of(benchmark, "ours-full", setting)),
                        time(report.of(benchmark, "async-full", setting)));
    }

    private static String heap(BenchReport report, String contender) {
        return number(
                BenchReport.median(report.of("Waiting.hold", contender, "").bytes()));
    }

    private static String method(BenchReport report) {
        Machine machine = report.machine();
        return """
                ## How it is measured

                | | |
                |---|---|
                | cores | %d |
                | memory | %,d MB |
                | Java | %s, %s |
                | Spring Boot | %s, with Spring %s |
                | date | %s |
                | load average before the run | %.1f |
                | rounds | %d, in each a JVM of its own for every contender |

                | contender | what |
                |---|---|
                %s
                Figures are medians of the rounds. Compare ratios rather than times of different machines; bytes are the same everywhere. On a
                busy machine times vary: look at the range. Of the caller's context only the MDC is carried. An operation is one call.

                To repeat it takes about half an hour, best on an idle machine:

                ```
                mvn verify -Pbench -pl virtual-thread-starter
                mvn test -pl virtual-thread-starter -Dtest=PerformancePageTests -Dperformance.write=true
                ```

                The second command writes this page and the tables of the decisions. `-Dbench.include=EmptyBody -Dbench.rounds=1` runs a part.
                """.formatted(
                        machine.cores(),
                        machine.memoryMegabytes(),
                        machine.java(),
                        machine.system(),
                        machine.springBoot(),
                        machine.spring(),
                        machine.date(),
                        machine.load(),
                        report.rounds(),
                        report.of("EmptyBody.burst").stream()
                                .map(each -> each.parameters().get("contender"))
                                .map(name -> "| %s | %s |\n".formatted(name, CONTENDERS.get(name)))
                                .collect(Collectors.joining()));
    }

    /** For the decision on what a call costs. */
    static String targets(BenchReport report) {
        return """
                | what | at most | found | |
                |---|---|---|---|
                """ + Target.ALL.stream().map(target -> target.row(report)).collect(Collectors.joining());
    }

    /** For the decision on the size of the jar. */
    static String jar(BenchReport report) {
        return """
                %,d bytes, %d class files:

                | | files | bytes in the jar |
                |---|---|---|
                """.formatted(report.jar().bytes(), report.jar().classes())
                + report.jar().parts().stream()
                        .map(part -> "| %s | %d | %,d |\n".formatted(part.name(), part.files(), part.bytes()))
                        .collect(Collectors.joining());
    }

    /** The page with that text between the comments {@code <!-- name -->} and {@code <!-- end of name -->}. */
    static String in(String page, String name, String text) {
        String first = "<!-- %s -->".formatted(name);
        int begin = page.indexOf(first);
        int end = page.indexOf("<!-- end of %s -->".formatted(name));
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException("The page has no part '%s'".formatted(name));
        }
        return page.substring(0, begin + first.length()) + "\n\n" + text + "\n" + page.substring(end);
    }

    private static String time(Figures figures) {
        return time(BenchReport.median(figures.scores()), figures.unit());
    }

    private static String table(String title, String text, List<Figures> figures) {
        boolean more = figures.stream().anyMatch(each -> each.parameters().size() > 1);
        return "\n## %s\n\n%s\n\n| |%s time | range | bytes |\n|---|%s---|---|---|\n"
                        .formatted(title, text, more ? " |" : "", more ? "---|" : "")
                + figures.stream().map(each -> row(each, more)).collect(Collectors.joining());
    }

    private static String row(Figures figures, boolean more) {
        String others = figures.parameters().entrySet().stream()
                .filter(parameter -> !parameter.getKey().equals("contender"))
                .map(parameter -> parameter.getKey() + " " + parameter.getValue())
                .collect(Collectors.joining(", "));
        List<Double> sorted = figures.scores().stream().sorted().toList();
        return "| %s |%s %s | %s | %s |\n"
                .formatted(
                        figures.parameters().get("contender"),
                        more ? " " + others + " |" : "",
                        time(BenchReport.median(sorted), figures.unit()),
                        range(time(sorted.getFirst(), figures.unit()), time(sorted.getLast(), figures.unit())),
                        figures.bytes().isEmpty() ? "" : "%,.0f".formatted(BenchReport.median(figures.bytes())));
    }

    /** The unit once, if both have the same. */
    private static String range(String lowest, String highest) {
        String unit = highest.substring(highest.indexOf(' '));
        return lowest.replaceFirst(unit + "$", "") + "–" + highest;
    }

    private static String time(double value, String unit) {
        if (unit.startsWith("ms")) {
            return number(value) + " ms";
        }
        if (value < 10_000) {
            return number(value) + " ns";
        }
        return value < 10_000_000 ? number(value / 1_000) + " µs" : time(value / 1_000_000, "ms");
    }

    static String number(double value) {
        return (value < 10 ? "%,.2f" : "%,.0f").formatted(value);
    }
}
