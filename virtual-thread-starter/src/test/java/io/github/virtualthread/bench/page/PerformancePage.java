package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A report as the page of the documentation, and as the part of a decision that has figures. */
final class PerformancePage {

    private static final String CONTENDERS = """
            | contender | what |
            |---|---|
            | jdk | `Executors.newVirtualThreadPerTaskExecutor()`, no proxy |
            | floor | a proxy with minimal advice that runs a method on such an executor and returns a future |
            | async | `@Async` on a `SimpleAsyncTaskExecutor` with virtual threads |
            | async-pool | `@Async` on a `ThreadPoolTaskExecutor` with virtual threads: as many as the limit, with an unbounded queue, and a `TaskDecorator` for the MDC |
            | async-full | as `async`, with a `TaskDecorator` for the MDC and Resilience4j's semaphore bulkhead |
            | spring-7 | as `async-full`, with Spring's `@ConcurrencyLimit` instead of the bulkhead |
            | ours | `@VirtualThread` |
            | ours-full | `@VirtualThread` with MDC keys and a limit |
            | ours-app | as `ours`, in an application with Spring's transactions, Actuator, Spring Security and context-propagation on the classpath. Nothing is set in their contexts, and there is no meter registry |
            | ours-app-metered | the same with a meter registry |
            """;

    private PerformancePage() {}

    static String of(BenchReport report) {
        return """
                # Performance

                A test compares all figures with those measured, in `performance.json`.
                %s
                """.formatted(forced(report.machine()))
                + Noticed.of(report)
                + goals(report)
                + method(report)
                + table(
                        "A call whose body waits for 1 ms",
                        "10,000 calls under a limit of 64, then joined. An operation is one call.",
                        report.of("ParkingBody.burst"))
                + table(
                        "An HTTP request",
                        "Eight users ask for the product page of the [sample](../sample-app/docs/laboratory.md), again and again. Its three parts"
                                + " take 120, 150 and 200 ms, and are loaded at the same time by `@Async` or by `@VirtualThread`. Nothing"
                                + " waits for a permit.",
                        report.of("Request.page"))
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
                + table(
                        "Heap of waiting calls",
                        "The heap per call of 100,000 waiting calls, by the number of MDC keys. Calls have a shared map if the caller never changes"
                                + " its MDC, and maps of their own if it changes it before each call.",
                        report.of("Waiting.hold"),
                        new Column("bytes", Words::bytes))
                + table(
                        "Making calls that have to wait",
                        "300,000 calls under a limit of 64, by a caller with three MDC keys. None of them ends during the measurement.",
                        report.of("Waiting.start"))
                + table(
                        "A caller that waits for its call",
                        "Each caller waits for the result of its call before it makes the next one. Bodies return at once, and no MDC key is"
                                + " set.",
                        report.of("HandOver.callAndWait"))
                + table(
                        "A limit on the caller's thread",
                        "`ours` is `@Limited`, `spring-7` is Spring's `@ConcurrencyLimit`, `semaphore` is the JDK's fair `Semaphore`, without"
                                + " a proxy. They have 8 permits, and bodies return at once. `@Limited` and the semaphore let callers go in order of arrival. With `@ConcurrencyLimit` a"
                                + " later caller may go first: compare the longest waits.",
                        report.of("Guarded.call"))
                + table(
                        "A million sleeping calls",
                        "Each sleeps for one second, all at once. Time and bytes are those of all calls together. Each stack has the frames"
                                + " of a proxy, except with `jdk`.",
                        report.of("MillionSleepers.all"))
                + table(
                        "A call whose body returns at once, joined",
                        "10,000 calls, then joined in order. Limits have 64 permits. A caller that makes its calls faster than they end waits for"
                                + " one after the other, and is woken up for each.",
                        report.of("EmptyBody.joined"))
                + table(
                        "A call whose body returns at once, not joined",
                        "The same calls. The caller waits once, until the last body has returned.",
                        report.of("EmptyBody.notJoined"))
                + table(
                        "A call with 30 MDC keys",
                        "The same calls, joined in order, with 30 keys instead of three.",
                        report.of("EmptyBody.manyKeys"))
                + """

                ## More

                Decisions have the reasons: for [what is measured](decisions/0021-measure-what-users-have.md), the
                [jar of %,d kB](decisions/0010-size-of-the-jar.md), the [running calls](decisions/0011-a-table-for-the-calls-that-run.md), the
                [cost of a start](decisions/0012-what-a-start-costs.md) and the [size of a call](decisions/0009-one-object-for-a-call.md).
                """.formatted(Math.round(report.jar().bytes() / 1_000.0));
    }

    private static String forced(Machine machine) {
        return machine.anyway() ? """

                **The machine was not idle.** Its load average was %.1f before the run, which was forced with `-Dbench.anyway=true`. Times may be
                wrong; bytes are not affected.
                """.formatted(machine.load()) : "";
    }

    private static String goals(BenchReport report) {
        return """
                ## Goals

                Times are compared within each round. *Found* is the median of the rounds. *Rounds* are those on the same side of the goal as
                the median. A result is not proven if fewer than four of five rounds agree.

                | | at most | found | rounds | |
                |---|---|---|---|---|
                %s
                Unless the row says otherwise, bodies return at once and calls are joined in order. `ours-full`, `async-full` and `async-pool`
                carry three MDC keys, except in hand-overs. [0021](decisions/0021-measure-what-users-have.md) says what was tried.

                """.formatted(Goal.ALL.stream().map(goal -> goal.row(report)).collect(Collectors.joining()));
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
                | load average before the run | %.1f%s |
                | rounds | %d, in each a JVM of its own for every contender; every second round in the opposite order |

                %s
                Figures are medians of the rounds. Compare ratios rather than times of different machines; bytes are the same everywhere. On a
                busy machine times vary: look at the range. Except in `ours-app` and in requests, only the MDC is carried of the caller's
                context.

                Repeating it takes about 45 minutes:

                ```
                mvn package -Pbench -DskipTests
                mvn verify -Pbench -pl virtual-thread-starter
                mvn test -pl virtual-thread-starter -Dtest=PerformancePageTests -Dperformance.write=true
                ```

                The first command makes the jar of the sample. The second one measures. It waits up to 3 minutes for a load average of at most
                1, and stops if that does not come; `-Dbench.anyway=true` overrides this, and the page says so. The third one writes this page
                and the tables of [a decision](decisions/0010-size-of-the-jar.md) and of the [comparison](compare.md#measured).
                `-Dbench.include=EmptyBody -Dbench.rounds=1` measures a part, which cannot be published.
                """.formatted(
                        machine.cores(),
                        machine.memoryMegabytes(),
                        machine.java(),
                        machine.system(),
                        machine.springBoot(),
                        machine.spring(),
                        machine.date(),
                        machine.load(),
                        machine.anyway() ? ", forced with `-Dbench.anyway=true`" : "",
                        report.rounds(),
                        CONTENDERS);
    }

    /** For the decision on the size of the jar. */
    static String jar(BenchReport report) {
        return "%,d bytes, %d class files.\n"
                .formatted(report.jar().bytes(), report.jar().classes());
    }

    /** For the page that compares: what a call takes with each of those that have a limit. */
    static String compared(BenchReport report) {
        return """
                | | `@VirtualThread` | pool | `@ConcurrencyLimit` | bulkhead |
                |---|---|---|---|---|
                """
                + compared("body waits for 1 ms, 64 at a time", report, "ParkingBody.burst", Words::time)
                + compared("body returns at once", report, "EmptyBody.joined", Words::time)
                + compared("allocated by such a call", report, "EmptyBody.joined", Words::bytes)
                + compared("the same call with 30 MDC keys", report, "EmptyBody.manyKeys", Words::time)
                + compared("making a call that has to wait", report, "Waiting.start keys=3 map=shared", Words::time)
                + compared("heap of a waiting call", report, "Waiting.hold keys=3 map=own", Words::bytes)
                + compared(
                        "a caller that waits for its call, a permit is free",
                        report,
                        "HandOver.callAndWait callers=8 permits=64 threads=platform",
                        Words::time)
                + compared(
                        "the same, eight callers share a permit",
                        report,
                        "HandOver.callAndWait callers=8 permits=1 threads=platform",
                        Words::time);
    }

    private static String compared(
            String what, BenchReport report, String measurement, Function<Figures, String> shown) {
        return Stream.of("ours-full", "async-pool", "spring-7", "async-full")
                .map(contender -> report.of(measurement, contender).map(shown).orElse("–"))
                .collect(Collectors.joining(" | ", "| %s | ".formatted(what), " |\n"));
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

    /** Contenders with the same settings stand together. What is the same in all rows is left out, and what nobody measured. */
    static String table(String title, String text, List<Figures> figures) {
        return table(
                title,
                text,
                figures,
                new Column("time", Words::time),
                new Column("range", Words::range),
                new Column("bytes", Words::bytes),
                new Column("longest wait", Words::longestWait));
    }

    private static String table(String title, String text, List<Figures> figures, Column... measured) {
        if (figures.isEmpty()) {
            return "";
        }
        List<Column> settings = figures.getFirst().parameters().keySet().stream()
                .filter(Predicate.not("contender"::equals))
                .sorted()
                .map(Column::setting)
                .filter(setting ->
                        figures.stream().map(setting.cell()).distinct().count() > 1)
                .toList();
        List<Column> columns = Stream.of(
                        Stream.of(Column.setting("contender")),
                        settings.stream(),
                        Stream.of(measured).filter(column -> figures.stream().anyMatch(column::isFilled)))
                .flatMap(column -> column)
                .toList();
        return "\n## %s\n\n%s\n\n| %s |\n|%s\n"
                        .formatted(title, text, joined(columns, Column::head), "---|".repeat(columns.size()))
                + figures.stream()
                        .sorted(Comparator.comparing(each -> order(each, settings)))
                        .map(each -> "| %s |\n".formatted(joined(columns, column -> column.cell()
                                .apply(each))))
                        .collect(Collectors.joining());
    }

    private static String joined(List<Column> columns, Function<Column, String> cell) {
        return columns.stream().map(cell).collect(Collectors.joining(" | "));
    }

    /** Numbers by their size, words by their letters. */
    private static String order(Figures figures, List<Column> settings) {
        return joined(settings, setting -> {
            String value = setting.cell().apply(figures);
            return Character.isDigit(value.charAt(0)) ? "%9s".formatted(value) : value;
        });
    }

    private record Column(String head, Function<Figures, String> cell) {

        private static Column setting(String name) {
            return new Column(name, figures -> figures.parameters().get(name));
        }

        private boolean isFilled(Figures figures) {
            return !cell.apply(figures).isEmpty();
        }
    }
}
