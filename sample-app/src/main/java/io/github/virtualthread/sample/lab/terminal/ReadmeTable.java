package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What README shows of the experiment with the scarce resource: those columns and rows that matter most, under names that say what
 * differs, and how to read them.
 */
final class ReadmeTable {

    static final String EXPERIMENT = "scarce-resource";

    private static final String UNLIMITED = "virtual threads, no limit";
    private static final String PATIENT = "virtual threads, no limit, connection timeout 30 s";
    private static final String LIMITED = "@VirtualThread with a limit";
    private static final String BOUNDED = "@VirtualThread, max-wait";

    /** Keys of the columns with their heads. */
    private static final List<Map.Entry<String, String>> COLUMNS = List.of(
            Map.entry("done", "done"),
            Map.entry("rejected", "rejected"),
            Map.entry("failed", "failed"),
            Map.entry("p50", "median, ms"),
            Map.entry("most", "max, ms"),
            Map.entry("rate", "queries per second"));

    private ReadmeTable() {}

    /** The page with the table of that report in place of what is between the marks. */
    static String in(String page, Report report) {
        return MarkedPart.in(page, "experiment " + EXPERIMENT, of(report));
    }

    /** Of several runs the first one. */
    static String of(Report report) {
        Report.Entry entry = report.experiments().stream()
                .filter(each -> each.id().equals(EXPERIMENT) && each.answer() != null)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("No answer of %s is among the results".formatted(EXPERIMENT)));
        Answer answer = entry.answer();
        String timeout = time(setting(entry, "timeout"));
        String wait = time(setting(entry, "wait"));
        COLUMNS.forEach(column -> requireColumn(answer, column.getKey()));
        return """
                %,d users at once send one query of %s each; the pool has %,d connections. %s on %d cores.

                %s
                How to read it: a limit adds no capacity, so the last column hardly differs. With `max-wait` the %s users who are served have their
                answer within %s ms instead of %s ms, and the other %s are rejected after %s. Without a limit the connection timeout decides:
                at %s, %s users fail; at 30 s, %s fail, and the last one waits %s ms.
                """.formatted(
                        setting(entry, "users"),
                        time(setting(entry, "millis")),
                        setting(entry, "connections"),
                        rounds(setting(entry, "rounds")),
                        report.machine().cores(),
                        table(answer, rows(setting(entry, "connections"), timeout, wait)),
                        figure(answer.row(BOUNDED), "done"),
                        figure(answer.row(BOUNDED), "most"),
                        figure(answer.row(LIMITED), "most"),
                        figure(answer.row(BOUNDED), "rejected"),
                        wait,
                        timeout,
                        figure(answer.row(UNLIMITED), "failed"),
                        figure(answer.row(PATIENT), "failed"),
                        figure(answer.row(PATIENT), "most"));
    }

    /** Rows of the answer with the names that they have here. */
    private static List<Map.Entry<String, String>> rows(int connections, String timeout, String wait) {
        return List.of(
                Map.entry("200 platform threads", "200 platform threads; connection timeout " + timeout),
                Map.entry(UNLIMITED, "virtual threads, no limit; connection timeout " + timeout),
                Map.entry(PATIENT, "virtual threads, no limit; connection timeout 30 s, HikariCP's default"),
                Map.entry(
                        "@ConcurrencyLimit of Spring",
                        "`@ConcurrencyLimit(%d)`; connection timeout %s".formatted(connections, timeout)),
                Map.entry(
                        LIMITED, "`@VirtualThread`, %d permits; connection timeout %s".formatted(connections, timeout)),
                Map.entry(BOUNDED, "the same with `max-wait: %s`".formatted(wait.replace(" ", ""))));
    }

    private static String table(Answer answer, List<Map.Entry<String, String>> rows) {
        String head = COLUMNS.stream().map(Map.Entry::getValue).collect(Collectors.joining(" | ", "| | ", " |\n"));
        return head
                + "|---".repeat(COLUMNS.size() + 1)
                + "|\n"
                + rows.stream()
                        .map(row -> COLUMNS.stream()
                                .map(column -> figure(answer.row(row.getKey()), column.getKey()))
                                .collect(Collectors.joining(" | ", "| " + row.getValue() + " | ", " |\n")))
                        .collect(Collectors.joining());
    }

    private static void requireColumn(Answer answer, String key) {
        if (answer.columns().stream().noneMatch(column -> column.key().equals(key))) {
            throw new IllegalArgumentException("%s has no column '%s'".formatted(EXPERIMENT, key));
        }
    }

    private static int setting(Report.Entry entry, String name) {
        Integer value = entry.settings().get(name);
        if (value == null) {
            throw new IllegalArgumentException("%s has no parameter '%s'".formatted(EXPERIMENT, name));
        }
        return value;
    }

    private static String time(int millis) {
        return millis % 1_000 == 0 ? millis / 1_000 + " s" : "%,d ms".formatted(millis);
    }

    private static String rounds(int number) {
        return number == 1 ? "One round" : "Medians of %d rounds".formatted(number);
    }

    private static String figure(Row row, String column) {
        return row.figures().containsKey(column) ? Answer.number(row.median(column)) : "";
    }
}
