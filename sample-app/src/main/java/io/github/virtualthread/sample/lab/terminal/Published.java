package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Report;
import java.util.List;
import java.util.Map;

/**
 * A figure that others have published for an experiment, on a machine of theirs.
 *
 * @param settings those they had, as far as they are known
 * @param row contender
 * @param column key of the figure
 * @param figure as published
 */
record Published(String experiment, Map<String, Integer> settings, String row, String column, String figure) {

    private static final Map<String, Integer> HUNDRED_TASKS = Map.of("tasks", 100, "millis", 1_000);
    private static final Map<String, Integer> THREE_THOUSAND = Map.of("users", 3_000, "millis", 1_000);
    private static final Map<String, Integer> FLOOD = Map.of("requests", 10_000);

    static final List<Published> ALL = List.of(
            new Published("pool-or-virtual", HUNDRED_TASKS, "fixed pool of 10", "millis", "10,117"),
            new Published("pool-or-virtual", HUNDRED_TASKS, "@VirtualThread", "millis", "1,083"),
            tasks(10_000, "cached pool of at most 2,000", "2,100"),
            tasks(10_000, "@VirtualThread", "1,050"),
            tasks(100_000, "cached pool of at most 2,000", "11,000"),
            tasks(100_000, "@VirtualThread", "1,660"),
            new Published("blocking-requests", THREE_THOUSAND, "platform threads, quick", "rate", "36,100"),
            new Published("blocking-requests", THREE_THOUSAND, "virtual threads, quick", "rate", "24,400"),
            new Published("blocking-requests", THREE_THOUSAND, "platform threads, block", "rate", "199.8"),
            new Published("blocking-requests", THREE_THOUSAND, "virtual threads, block", "rate", "2,978"),
            new Published("exploding-pool", FLOOD, "synchronous", "rate", "99"),
            new Published("exploding-pool", FLOOD, "@Async, Spring Boot's default", "rate", "9,800"),
            new Published("exploding-pool", FLOOD, "@VirtualThread with a limit", "rate", "9,800"));

    private static Published tasks(int number, String row, String figure) {
        return new Published("pool-or-virtual", Map.of("tasks", number, "millis", 1_000), row, "millis", figure);
    }

    static List<Published> of(Report.Entry entry) {
        return ALL.stream().filter(each -> each.experiment().equals(entry.id())).toList();
    }

    /** Whether they had the settings of that run. */
    boolean isComparable(Report.Entry entry) {
        return entry.settings().entrySet().containsAll(settings.entrySet());
    }
}
