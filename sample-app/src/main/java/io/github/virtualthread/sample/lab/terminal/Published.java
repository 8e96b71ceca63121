package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Report;
import java.util.List;
import java.util.Map;

/**
 * A figure that others have published for an experiment, on a machine of theirs.
 *
 * @param settings those they had, as far as they are known
 * @param row contender, as a regular expression
 * @param column key of the figure
 * @param figure as published
 */
record Published(String experiment, Map<String, Integer> settings, String row, String column, String figure) {

    private static final String CACHED = "cached pool of at most 2,000";
    private static final String VIRTUAL = "@VirtualThread";
    private static final Map<String, Integer> AT_ONCE = Map.of("users", 3_000, "millis", 1_000, "ramp", 0);

    private static final Map<String, Integer> TWELVE_CARRIERS = Map.of("carriers", 12, "few", 100, "millis", 1_000);

    static final List<Published> ALL = List.of(
            tasks(100, "fixed pool of 10", "10,117"),
            tasks(100, VIRTUAL, "1,083"),
            tasks(10_000, CACHED, "2,100"),
            tasks(10_000, VIRTUAL, "1,050"),
            tasks(100_000, CACHED, "11,000"),
            tasks(100_000, VIRTUAL, "1,660"),
            tasks(1_000_000, CACHED, "46,300"),
            tasks(1_000_000, VIRTUAL, "18,200"),
            tasks(5_000_000, VIRTUAL, "37,600"),
            requests(AT_ONCE, "platform threads, quick", "36,100"),
            requests(AT_ONCE, "virtual threads, quick", "24,400"),
            requests(AT_ONCE, "platform threads, block", "199.8"),
            requests(AT_ONCE, "virtual threads, block", "2,978"),
            requests(ramp(6), "platform threads, quick", "499"),
            requests(ramp(6), "virtual threads, quick", "499"),
            requests(ramp(6), "platform threads, block", "194"),
            requests(ramp(6), "virtual threads, block", "428"),
            requests(ramp(3), "platform threads, quick", "999"),
            requests(ramp(3), "virtual threads, quick", "995"),
            requests(ramp(3), "platform threads, block", "196"),
            requests(ramp(3), "virtual threads, block", "749"),
            flood(10_000, "@Async, pool 50 and queue 100", "10,493"),
            flood(10_000, "synchronous", "99"),
            flood(10_000, "@Async, Spring Boot's default", "9,800"),
            flood(10_000, "@VirtualThread with a limit", "9,800"),
            flood(100_000, "@Async, Spring Boot's default", "24,200"),
            flood(100_000, "@VirtualThread with a limit", "25,600"),
            flood(1_000_000, "@Async, Spring Boot's default", "13,500"),
            flood(1_000_000, "@VirtualThread with a limit", "23,700"),
            scarce("200 platform threads", "rate", "149.5"),
            scarce("virtual threads, no limit", "failed", "connection exceptions"),
            oneCarrier("one platform thread", "1"),
            oneCarrier("virtual threads on one carrier", "50"),
            new Published("pinning-driver", TWELVE_CARRIERS, "Java 2[123]\\b.*, limit of 100", "rate", "11"));

    /** What was published by the way, in the words that are known of it. */
    static final List<Remark> REMARKS = List.of(
            new Remark(
                    "pool-or-virtual",
                    "The cached pools of the published figures may have had more than 2,000 threads. Their number is not known."),
            new Remark(
                    "blocking-requests",
                    "The ramp-ups were published as \"499/194 against 499/428 and 999/196 against 995/749\". The figures show"
                            + " that 3,000 users came within 6 s and within 3 s and asked once: with one second for the last user,"
                            + " 3,000 / 7 is 428 and 3,000 / 4 is 750."),
            new Remark(
                    "exploding-pool",
                    "Published for a pool of 50 with a queue of 100, beside the 10,493 answers while work was rejected:"
                            + " \"against 252 and 367 client time-outs\", with 200 connections for 20 s: 200 / 252 is 0.79 s for an"
                            + " answer. How long the partner took is not known."),
            new Remark(
                    "scarce-resource",
                    "Published for 100 and for 150 connections: \"92 and 129 against 11\" queries per second. The 11 were"
                            + " measured with MySQL's sleep of 1 s, Java 21 and 12 carriers: a driver that pins does 12 per second there,"
                            + " whatever the pool. See the experiment on such a driver."));

    private static Published tasks(int number, String row, String figure) {
        return new Published("pool-or-virtual", Map.of("tasks", number, "millis", 1_000), row, "millis", figure);
    }

    private static Published requests(Map<String, Integer> settings, String row, String figure) {
        return new Published("blocking-requests", settings, row, "rate", figure);
    }

    /** Of users who come in so many seconds, and ask once. */
    private static Map<String, Integer> ramp(int seconds) {
        return Map.of("users", 3_000, "millis", 1_000, "ramp", seconds, "loop", 0);
    }

    private static Published flood(int requests, String row, String figure) {
        return new Published("exploding-pool", Map.of("requests", requests), row, "rate", figure);
    }

    private static Published scarce(String row, String column, String figure) {
        Map<String, Integer> settings = Map.of("users", 3_000, "millis", 1_000, "connections", 150);
        return new Published("scarce-resource", settings, row, column, figure);
    }

    private static Published oneCarrier(String row, String figure) {
        return new Published("one-carrier", Map.of("users", 50, "millis", 1_000), row, "rate", figure);
    }

    static List<Published> of(String experiment) {
        return ALL.stream().filter(each -> each.experiment().equals(experiment)).toList();
    }

    /** Whether they had the settings of that run. */
    private boolean isComparable(Report.Entry entry) {
        return entry.id().equals(experiment) && entry.settings().entrySet().containsAll(settings.entrySet());
    }

    /** Whether there is a figure of that run to stand beside. */
    boolean isBeside(Report.Entry entry) {
        return isComparable(entry)
                && entry.answer() != null
                && entry.answer().rows().stream()
                        .anyMatch(found -> isOf(found.name()) && found.figures().containsKey(column));
    }

    boolean isOf(String contender) {
        return contender.matches(row);
    }

    /** What has no cell of its own. */
    record Remark(String experiment, String text) {}
}
