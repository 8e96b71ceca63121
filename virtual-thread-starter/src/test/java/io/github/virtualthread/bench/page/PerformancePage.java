package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Jar;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A report as the page of the documentation. */
final class PerformancePage {

    private static final Map<String, String> CONTENDERS = Map.of(
            "jdk", "`Executors.newVirtualThreadPerTaskExecutor()`, no proxy",
            "floor", "a proxy with the least advice that runs a method on such an executor and returns a future",
            "async", "`@Async` with virtual threads",
            "async-full",
                    "the same, with a `TaskDecorator` for the MDC and a semaphore bulkhead of Resilience4j inside",
            "spring-7", "the same, with Spring's own `@ConcurrencyLimit` for the bulkhead",
            "ours", "`@VirtualThread`",
            "ours-full", "`@VirtualThread` with three MDC keys and a limit",
            "ours-metered", "the same with meters");

    private PerformancePage() {}

    static String of(BenchReport report) {
        return intro(report)
                + targets(report)
                + table(
                        "What a call costs",
                        "10,000 calls whose body returns at once, then joined; limits are of 64. An operation is one call, from the call to"
                                + " the result.",
                        report.of("EmptyBody.burst"))
                + table(
                        "Bodies that park for 1 ms",
                        "10,000 calls under a limit of 64, then joined.",
                        report.of("ParkingBody.burst"))
                + table(
                        "A permit changes hands",
                        "Eight callers, each of which waits for its call before it makes the next. An operation is a call of one of them.",
                        report.of("HandOver.callAndWait"))
                + table(
                        "To make calls that wait",
                        "300,000 calls under a limit of 64, none of which ends meanwhile.",
                        report.of("Waiting.start"))
                + table(
                        "What waiting calls hold",
                        "The heap of each of those calls, with three MDC keys of its own. The time is that of measuring.",
                        report.of("Waiting.hold"))
                + table(
                        "A million calls",
                        "Each sleeps for a second, all at once. An operation is all of them, from the first call to the last result. Bytes"
                                + " are those of all, too. The stack of each has the frames of a proxy on it, except with `jdk`.",
                        report.of("MillionSleepers.all"))
                + table(
                        "The first start of a JVM",
                        "Start and stop of an application with `spring-boot-starter` and its auto-configuration, of 1,000 beans, each of"
                                + " a class of its own, so many of them annotated; no property is set. `plain` has"
                                + " nothing more, `async` has `@EnableAsync`, `ours` has the starter on its class path. The time is"
                                + " that of the processor, all threads together.",
                        report.of("StartUp.first"))
                + table(
                        "Later starts",
                        "The same as one of many in a JVM, as tests and reloads have it.",
                        report.of("StartUp.later"))
                + jar(report.jar());
    }

    private static String intro(BenchReport report) {
        Machine machine = report.machine();
        return """
                # Performance

                Made from what the benchmarks have found; no figure was typed by hand. Times of one machine say little about another: look at
                their ratios. Bytes are the same everywhere. To repeat it, for about half an hour, best on an idle machine:

                ```
                mvn verify -Pbench -pl virtual-thread-starter
                mvn test -pl virtual-thread-starter -Dtest=PerformancePageTests -Dperformance.write=true
                ```

                The first measures and writes `target/bench/results.json`, the second makes this page of it.
                `-Dbench.include=EmptyBody -Dbench.rounds=1` runs a part.

                | | |
                |---|---|
                | cores | %d |
                | memory | %,d MB |
                | Java | %s, %s |
                | Spring Boot | %s, with Spring %s |
                | date | %s |
                | programs that wanted a core before it began | %.1f |
                | rounds | %d, in each a JVM of its own for every contender |

                | contender | what |
                |---|---|
                %s
                Figures are medians of the rounds, ratios medians of the ratios within each round. Where more programs want a core than there
                are, times wobble: see how far apart the lowest and the highest are. Of the caller's context the MDC alone is carried.
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

    private static String targets(BenchReport report) {
        return """

                ## Targets

                | what | at most | found | |
                |---|---|---|---|
                """ + Target.ALL.stream().map(target -> target.row(report)).collect(Collectors.joining()) + """

                What a call does that `floor` does not: its thread has a name with a number; it is in the table of the calls that run, by which
                a stop and the endpoint find it, beside the JDK's own; it is counted; the MDC is asked for; and the clock is looked at when the
                body starts, for its age. Each of these is promised. Which of them takes how long is told in
                [0011](decisions/0011-a-table-for-the-calls-that-run.md), how large a call is in [0009](decisions/0009-one-object-for-a-call.md).

                Under a limit a call of a burst waits as an object, and the call that ends before it makes its thread. Those it is compared with
                make all their threads at once, which then find a permit free, as bodies that return at once seldom run at the same time: that
                is quicker as long as nobody has to wait, and takes the heap shown below as soon as somebody has.

                A pool does not: `ThreadPoolTaskExecutor.setVirtualThreads(true)` of Spring 6.2 queues calls as objects too, in order, and does not
                block its caller. It is no contender here, because it limits one executor and carries no context:
                [what such a pool lacks](when-not-to-use.md#you-want-to-limit-one-pool).

                The start of an application with the starter binds its properties, reads its configuration classes, makes some twenty beans and
                looks at every class for annotations. What was
                tried to make that shorter, and what is left, is told in [0012](decisions/0012-what-a-start-costs.md).
                """;
    }

    private static String table(String title, String text, List<Figures> figures) {
        boolean more = figures.stream().anyMatch(each -> each.parameters().size() > 1);
        return "\n## %s\n\n%s\n\n| |%s time | lowest to highest | bytes |\n|---|%s---|---|---|\n"
                        .formatted(title, text, more ? " |" : "", more ? "---|" : "")
                + figures.stream().map(each -> row(each, more)).collect(Collectors.joining());
    }

    private static String row(Figures figures, boolean more) {
        String others = figures.parameters().entrySet().stream()
                .filter(parameter -> !parameter.getKey().equals("contender"))
                .map(parameter -> parameter.getKey() + " " + parameter.getValue())
                .collect(Collectors.joining(", "));
        List<Double> sorted = figures.scores().stream().sorted().toList();
        return "| %s |%s %s | %s to %s | %s |\n"
                .formatted(
                        figures.parameters().get("contender"),
                        more ? " " + others + " |" : "",
                        time(BenchReport.median(sorted), figures.unit()),
                        time(sorted.getFirst(), figures.unit()),
                        time(sorted.getLast(), figures.unit()),
                        figures.bytes().isEmpty() ? "" : "%,.0f".formatted(BenchReport.median(figures.bytes())));
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

    private static String jar(Jar jar) {
        return """

                ## The jar

                %,d bytes, %d class files. A rule of the build keeps it from growing unseen; why it is not smaller is told in
                [0010](decisions/0010-size-of-the-jar.md).

                | | files | bytes in the jar |
                |---|---|---|
                """.formatted(jar.bytes(), jar.classes())
                + jar.parts().stream()
                        .map(part -> "| %s | %d | %,d |\n".formatted(part.name(), part.files(), part.bytes()))
                        .collect(Collectors.joining());
    }
}
