package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** A report as the page of the documentation, and as the parts of decisions that have figures. */
final class PerformancePage {

    private PerformancePage() {}

    static String of(BenchReport report) {
        return """
                # Performance

                A test compares all figures with those measured, in [`performance.json`](performance.json), which has many more.
                %s
                """.formatted(forced(report.machine())) + Noticed.of(report) + heap(report) + method(report) + """

                [0021](decisions/0021-measure-what-users-have.md) has the goals and why some are missed.
                """;
    }

    /** The contenders with as many keys stand together, as they were measured. */
    private static String heap(BenchReport report) {
        String rows = report.of("Waiting.hold").stream()
                .filter(has("map", "own").or(has("keys", "0")))
                .map(figures -> "| %s | %s | %s |\n"
                        .formatted(contender(figures), figures.parameters().get("keys"), Words.bytes(figures)))
                .collect(Collectors.joining());
        return rows.isEmpty() ? "" : """

                ## Heap of waiting calls

                The heap per call of 100,000 waiting calls, by the number of MDC keys. The caller changes its MDC before each call. If \
                it never does, all calls share one map, and those of `@VirtualThread` need as much as without keys.

                | contender | keys | bytes |
                |---|---|---|
                %s""".formatted(rows);
    }

    private static Predicate<Figures> has(String parameter, String value) {
        return figures -> value.equals(figures.parameters().get(parameter));
    }

    private static String contender(Figures figures) {
        return Noticed.NAMES.getOrDefault(figures.parameters().get("contender"), "`@VirtualThread`");
    }

    private static String forced(Machine machine) {
        return machine.anyway() ? """

                **The machine was not idle.** Its load average was %.1f before the run, which was forced with `-Dbench.anyway=true`. Times may be
                wrong; bytes are not affected.
                """.formatted(machine.load()) : "";
    }

    private static String method(BenchReport report) {
        Machine machine = report.machine();
        return """

                ## How it is measured

                With %d cores, %,d MB, Java %s on %s, Spring Boot %s and Spring %s, on %s. The load average before the run was %.1f%s.
                Each of %d rounds has a JVM of its own for every contender; every second round has the opposite order. Figures are medians
                of the rounds. Compare ratios rather than times of different machines; bytes are the same everywhere.

                `@Async` has a `SimpleAsyncTaskExecutor` with virtual threads, a *bulkhead* is the semaphore of Resilience4j, and a *pool* is a
                `ThreadPoolTaskExecutor` with as many virtual threads as the limit and an unbounded queue. *Written by hand* is a proxy that only
                starts a virtual thread, which waits for a fair semaphore. With a limit all carry three MDC keys,
                the others by a `TaskDecorator`, unless a row says otherwise; callers that wait for their calls set none. *As people have it*
                means: with Spring's transactions, Actuator, Spring Security and context-propagation on the classpath, and nothing set in
                their contexts. A start is processor time, with `spring-boot-starter` and 1,000 beans, each of its own class: the first one of
                a JVM, and later ones as in tests.

                Repeating it takes about 45 minutes:

                ```
                mvn package -Pbench -DskipTests
                mvn verify -Pbench -pl virtual-thread-starter
                mvn test -pl virtual-thread-starter -Dtest=PerformancePageTests -Dperformance.write=true
                ```

                The second command measures. It waits up to 3 minutes for a load average of at most 1, and stops if that does not come;
                `-Dbench.anyway=true` overrides this, and the page says so. The third one writes this page and the goals.
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
                        report.rounds());
    }

    /** For the decision on what is measured: those that were missed. */
    static String goals(BenchReport report) {
        List<String> missed = Goal.ALL.stream()
                .map(goal -> goal.missed(report))
                .filter(Predicate.not(String::isEmpty))
                .toList();
        return "%d of %d goals are reached. These are missed; each line has what was found, and the goal:\n\n%s"
                .formatted(Goal.ALL.size() - missed.size(), Goal.ALL.size(), String.join("", missed));
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
}
