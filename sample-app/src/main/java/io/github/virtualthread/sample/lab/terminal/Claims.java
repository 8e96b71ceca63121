package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Report;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The claims of the five articles that this project grew out of, each with its answer; figures come from the report. */
final class Claims {

    private static final String NAME = "claims";

    /** An experiment, a contender as a regular expression, the key of a figure, and settings if there are several runs. */
    private static final Pattern FIGURE = Pattern.compile("\\{([^;}]+);([^;}]+);([^;}]+)(?:;(\\w+)=(\\d+))?}");

    static final List<Claim> ALL = List.of(
            new Claim(
                    "000",
                    "100 tasks of 1 s: a pool of 10 takes 10,117 ms, virtual threads 1,083 ms",
                    "Confirmed: {pool-or-virtual;fixed pool of 10;millis;tasks=100} and {pool-or-virtual;@VirtualThread;millis;tasks=100} ms",
                    "pool-or-virtual"),
            new Claim(
                    "000",
                    "A virtual thread takes 200 to 300 bytes; a switch less than 1 ns or 1 µs, of a platform thread 1 to 10 µs",
                    "Refuted: {thread-cost;virtual threads;heap} bytes with its stack; a switch {thread-cost;virtual threads;switch} against {thread-cost;platform threads;switch} µs",
                    "thread-cost"),
            new Claim(
                    "000",
                    "3,000 users within 5 and 2 s: as many answers for quick requests, twice and five times as many for blocking ones",
                    "Confirmed, if they came within 6 and 3 s: {blocking-requests;virtual threads, block;rate;ramp=6} against {blocking-requests;platform threads, block;rate;ramp=6}, and {blocking-requests;virtual threads, block;rate;ramp=3} against {blocking-requests;platform threads, block;rate;ramp=3} per second",
                    "blocking-requests"),
            new Claim(
                    "000",
                    "Queries of 1 s: platform threads 92 and 129 per second, virtual threads 11. Why?",
                    "Explained: 12 carriers, Java 21 and a driver that pins. 12 carriers do {pinning-driver;Java 2[123]\\b.*, limit of 100;rate;carriers=12} per second, whatever the limit; on a Java that does not pin, {pinning-driver;Java (?!2[123]\\b)[\\d.]+, limit of 100;rate;carriers=12}",
                    "pinning-driver"),
            new Claim(
                    "000",
                    "There are as many workers as cores",
                    "Confirmed at first, and no reason for the 11: one carrier answered {one-carrier;virtual threads on one carrier;rate} requests per second that wait",
                    "one-carrier"),
            new Claim("000", "MDC works, and is lost with `@Async`", "Confirmed", "context-and-cancel"),
            new Claim(
                    "000",
                    "Native calls and `synchronized` pin: is that solved?",
                    "Half: from Java 24 on `synchronized` does not, a native sleep does: {pinning-driver;.*native sleep.*;rate;carriers=2} against {pinning-driver;Java (?!2[123]\\b)[\\d.]+, limit of 100;rate;carriers=2} per second",
                    "pinning-driver"),
            new Claim(
                    "000",
                    "Do not pool virtual threads",
                    "Confirmed by [JEP 444](https://openjdk.org/jeps/444): limit the resource",
                    "scarce-resource"),
            new Claim(
                    "000",
                    "A dump shows them, by `jcmd`",
                    "Answered by the [endpoint](../../docs/endpoint.md) `virtualthreaddump`",
                    "thread-states"),
            new Claim("000", "The source has ten states", "Measured, as far as they last", "thread-states"),
            new Claim(
                    "000",
                    "Asynchronous code loses control flow and context, and is contagious",
                    "Half: a method that returns a future makes its callers return futures, or wait by `get()`. On a virtual thread to wait costs no carrier; `@Limited` and [`VirtualThreads.all`](../../docs/by-hand.md) return plain values. The caller is in the stack by `virtual-thread.caller-trace`",
                    "context-and-cancel"),
            new Claim(
                    "000",
                    "Goroutines and coroutines are different",
                    "Out of scope: other languages. `suspend` functions are [refused](../../docs/start-up-checks.md)",
                    ""),
            new Claim(
                    "001",
                    "Quick requests: 24,400 per second against 36,100, so not for simple calls",
                    "Not decided here: {blocking-requests;virtual threads, quick;rate;ramp=0} against {blocking-requests;platform threads, quick;rate;ramp=0}; the ranges overlap",
                    "blocking-requests"),
            new Claim(
                    "001",
                    "Blocking requests: 2,975 per second against 199",
                    "Confirmed: {blocking-requests;virtual threads, block;rate;ramp=0} against {blocking-requests;platform threads, block;rate;ramp=0}",
                    "blocking-requests"),
            new Claim(
                    "001",
                    "Pool of 150: exceptions against 149.5 queries per second",
                    "Confirmed with a connection timeout of 5 s: {scarce-resource;virtual threads, no limit;failed;connections=150} failed; with 30 s {scarce-resource;virtual threads, no limit, connection timeout 30 s;failed;connections=150}",
                    "scarce-resource"),
            new Claim(
                    "001",
                    "Use semaphores, not pools",
                    "Confirmed; but a semaphore has one queue for all callers",
                    "one-tenant-floods"),
            new Claim("001", "Do not use `synchronized`", "Confirmed below Java 24", "pinning-driver"),
            new Claim(
                    "001",
                    "Be careful with thread-locals: leaks, wrong values, memory",
                    "Measured: {thread-locals;pool of 50 threads;foreign} of 100,000 tasks found a value of another task on a pool, {thread-locals;@VirtualThread.*;foreign} on virtual threads; the heap grew by {thread-locals;1,000 virtual.*;running} MB with 1,000 threads, {thread-locals;100,000 virtual.*;running} MB with 100,000, {thread-locals;@VirtualThread.*;running} MB under a limit of 50",
                    "thread-locals"),
            new Claim(
                    "001",
                    "Throughput rises, latency does not improve",
                    "Half: a request alone takes as long; with more users than threads the median fell from {blocking-requests;platform threads, block;p50;ramp=0} to {blocking-requests;virtual threads, block;p50;ramp=0} ms",
                    "blocking-requests"),
            new Claim(
                    "001",
                    "Sockets were written anew (JEP 353, 373)",
                    "Out of scope: a part of the JDK since 13 and 15",
                    ""),
            new Claim(
                    "001",
                    "Set `server.tomcat.use-virtual-threads`",
                    "Refuted: there is no such property, and Spring Boot ignores it silently. Set `spring.threads.virtual.enabled`",
                    ""),
            new Claim(
                    "001",
                    "States: parked, timed, pinned",
                    "Measured: seen from inside, hidden by `Thread.getState()`",
                    "thread-states"),
            new Claim(
                    "002",
                    "An event after a POST runs on a virtual thread",
                    "Answered by `POST /products` of the [sample](../src/main/java/io/github/virtualthread/sample/catalog)",
                    ""),
            new Claim(
                    "002",
                    "50 users: one thread answers 1 per second, virtual threads on one carrier 50",
                    "Confirmed: {one-carrier;one platform thread;rate} and {one-carrier;virtual threads on one carrier;rate}",
                    "one-carrier"),
            new Claim("002", "The heap goes up and down", "Confirmed by the chart of eden", "one-carrier"),
            new Claim(
                    "002",
                    "Locust, Docker Compose, VisualVM",
                    "Answered: [Locust](load-testing.md#with-locust), and an untried [compose file and VisualVM](load-testing.md#watch-it)",
                    ""),
            new Claim("002", "Kotlin", "Answered: tested on each line of Spring Boot, without `suspend`", ""),
            new Claim(
                    "003",
                    "Little's law gives the pool",
                    "Answered by [limits](../../docs/limits.md) and the calculator of the laboratory",
                    ""),
            new Claim(
                    "003",
                    "10,000 to 5,000,000 tasks: a cached pool against virtual threads",
                    "Confirmed: 10,000 take {pool-or-virtual;cached pool.*;millis;tasks=10000} and {pool-or-virtual;@VirtualThread;millis;tasks=10000} ms. But 5,000,000 take {pool-or-virtual;@VirtualThread;millis;tasks=5000000} ms with `@VirtualThread` and {pool-or-virtual;@Async on virtual threads;millis;tasks=5000000} ms with `@Async` on virtual threads",
                    "pool-or-virtual"),
            new Claim(
                    "003",
                    "An executor, `@VirtualThread`, an aspect, `@EnableVirtual`; `Future` or `void`",
                    "Answered: [that is this starter](../../docs/getting-started.md)",
                    ""),
            new Claim(
                    "003",
                    "Self-invocation is not advised",
                    "Answered by a warning at the start, and [weaving](../../docs/weaving.md)",
                    ""),
            new Claim(
                    "003",
                    "A nested fan-out needs the executor",
                    "Answered by [`VirtualThreads.all`](../../docs/by-hand.md): {composite-task;VirtualThreads.all;fanOut} ms for 10,000 parts",
                    "composite-task"),
            new Claim(
                    "003",
                    "Synchronous 99 per second, virtual threads up to 1,000,000 requests",
                    "Measured: answers are no work done: {exploding-pool;@VirtualThread with a limit;done;requests=1000000} of 1,000,000 were done",
                    "exploding-pool"),
            new Claim(
                    "003",
                    "Sum, maximum, main part: answer first, side work later",
                    "Measured: {composite-task;one after the other;page}, {composite-task;@VirtualThread;page} and {composite-task;@VirtualThread, answered after the price;page} ms; all work was done after {composite-task;@VirtualThread, answered after the price;work} ms",
                    "composite-task"),
            new Claim(
                    "003",
                    "CI and CD by GitHub Actions and Docker",
                    "Half: [builds and releases](../../.github/workflows); an image is out of scope for a library",
                    ""),
            new Claim(
                    "004",
                    "Pool of 50, queue of 100: 10,493 answers per second, work is lost",
                    "Confirmed: {exploding-pool;@Async, pool 50.*;rejected;requests=10000} of 10,000 rejected without the client being told",
                    "exploding-pool"),
            new Claim(
                    "004",
                    "200 connections: virtual threads 252 answers per second, 367 time-outs",
                    "Confirmed for answers that wait: {exploding-pool;@VirtualThread, answered when done;rate;users=200} per second is the capacity of 50 permits of 200 ms",
                    "exploding-pool"),
            new Claim(
                    "004",
                    "A partner by `RestTemplate`",
                    "Answered by `RestClient` on the product page",
                    "composite-task"),
            new Claim(
                    "004",
                    "Structured concurrency, or an executor",
                    "Answered by [`VirtualThreads.all`](../../docs/by-hand.md), which stops the others when one fails; `StructuredTaskScope` is a preview in Java 25",
                    "composite-task"),
            new Claim(
                    "004",
                    "Platform threads must never be used with blocking I/O",
                    "Refuted: where a pool of 200 bounds the work, platform threads did {the-door;platform threads, no door;rate} requests per second and virtual threads {the-door;virtual threads, no door;rate}",
                    "the-door"),
            new Claim("004", "The server never dies", "Refuted: the queue has moved", "the-door"),
            new Claim(
                    "004",
                    "`WebClient` would be needed otherwise",
                    "Half: with 200 connections {exploding-pool;WebClient, answered when done;rate;users=200} answers per second, and {exploding-pool;synchronous;rate;users=200} from code that blocks; with 400, which are more than the server has threads, {exploding-pool;WebClient, answered when done;rate;requests=100000} and {exploding-pool;synchronous;rate;requests=100000}. Virtual threads remove that bound too",
                    "exploding-pool"));

    private Claims() {}

    static String in(String page, Report report) {
        return MarkedPart.in(page, NAME, of(report));
    }

    static String of(Report report) {
        return "| article | claim | answer | see it by |\n|---|---|---|---|\n"
                + ALL.stream().map(claim -> claim.line(report)).collect(Collectors.joining());
    }

    /**
     * One claim.
     *
     * @param article its number
     * @param answer begins with its kind; figures are as in {@link #FIGURE}
     * @param experiment that shows it; empty for none
     */
    record Claim(String article, String claim, String answer, String experiment) {

        static final List<String> KINDS = List.of(
                "Confirmed", "Refuted", "Half", "Measured", "Explained", "Not decided", "Answered", "Out of scope");

        private String line(Report report) {
            String answered = FIGURE.matcher(answer)
                    .replaceAll(found -> Matcher.quoteReplacement(figure(
                            report,
                            found.group(1),
                            found.group(2),
                            found.group(3),
                            found.group(4) == null
                                    ? Map.of()
                                    : Map.of(found.group(4), Integer.valueOf(found.group(5))))));
            String by = experiment.isEmpty() ? "–" : "`--lab=%s`".formatted(experiment);
            return MarkdownTable.line(List.of(article, claim, answered + ".", by), List.of());
        }

        private static String figure(
                Report report, String experiment, String row, String column, Map<String, Integer> settings) {
            return report.experiments().stream()
                    .filter(entry -> entry.id().equals(experiment)
                            && entry.answer() != null
                            && entry.settings().entrySet().containsAll(settings.entrySet()))
                    .flatMap(entry -> entry.answer().rows().stream())
                    .filter(found ->
                            found.name().matches(row) && found.figures().containsKey(column))
                    .findFirst()
                    .map(found -> TextTable.figure(found.figures().get(column)))
                    .orElseThrow(() -> new IllegalArgumentException(
                            "No figure '%s' of '%s' in %s %s".formatted(column, row, experiment, settings)));
        }
    }
}
