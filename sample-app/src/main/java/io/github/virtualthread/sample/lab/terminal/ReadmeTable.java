package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import java.util.List;

/** What README shows of the experiment with the scarce resource: those columns and rows that matter most. */
final class ReadmeTable {

    static final String EXPERIMENT = "scarce-resource";

    private static final String BEGIN = "<!-- experiment %s -->".formatted(EXPERIMENT);
    private static final String END = "<!-- end of experiment %s -->".formatted(EXPERIMENT);

    private static final List<String> COLUMNS = List.of("rate", "done", "rejected", "failed", "p50", "most");
    private static final List<String> ROWS = List.of(
            "200 platform threads",
            "virtual threads, no limit",
            "virtual threads, no limit, connection timeout 30 s",
            "@ConcurrencyLimit of Spring",
            "@VirtualThread with a limit",
            "@VirtualThread, max-wait");

    private ReadmeTable() {}

    /** The page with the table of that report in place of what is between the marks. */
    static String in(String page, Report report) {
        int begin = page.indexOf(BEGIN);
        int end = page.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException(
                    "The page must have a line %s and after it a line %s".formatted(BEGIN, END));
        }
        return page.substring(0, begin + BEGIN.length()) + "\n\n" + of(report) + "\n" + page.substring(end);
    }

    /** Of several runs the first one. */
    static String of(Report report) {
        Report.Entry entry = report.experiments().stream()
                .filter(each -> each.id().equals(EXPERIMENT) && each.answer() != null)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("No answer of %s is among the results".formatted(EXPERIMENT)));
        Answer answer = entry.answer();
        List<Column> columns = COLUMNS.stream().map(key -> column(answer, key)).toList();
        List<Row> rows = ROWS.stream().map(answer::row).toList();
        return """
                %,d users at once, each with a query of %,d ms%s. %s on %d cores; `max-wait` was %,d ms.

                %s""".formatted(
                        setting(entry, "users"),
                        setting(entry, "millis"),
                        entry.settings().containsKey("connections")
                                ? ", on %,d connections".formatted(setting(entry, "connections"))
                                : "",
                        rounds(setting(entry, "rounds")),
                        report.machine().cores(),
                        setting(entry, "wait"),
                        MarkdownTable.of(List.of(""), columns, rows, row -> List.of(row.name()), ReadmeTable::median));
    }

    private static Column column(Answer answer, String key) {
        return answer.columns().stream()
                .filter(column -> column.key().equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("%s has no column '%s'".formatted(EXPERIMENT, key)));
    }

    private static int setting(Report.Entry entry, String name) {
        Integer value = entry.settings().get(name);
        if (value == null) {
            throw new IllegalArgumentException("%s has no parameter '%s'".formatted(EXPERIMENT, name));
        }
        return value;
    }

    private static String rounds(int number) {
        return number == 1 ? "One round" : "Medians of %d rounds".formatted(number);
    }

    private static String median(Row row, Column column) {
        return row.figures().containsKey(column.key()) ? Answer.number(row.median(column.key())) : "";
    }
}
