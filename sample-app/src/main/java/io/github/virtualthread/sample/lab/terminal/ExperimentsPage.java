package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Report.Machine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A report as a page of the documentation, with what others have published beside what was measured. */
final class ExperimentsPage {

    private ExperimentsPage() {}

    static String of(Report report) {
        Machine machine = report.machine();
        return """
                # What the experiments found

                Made by the [sample](../sample-app) from what it measured; no figure was typed by hand but the published ones, which are
                other people's, on their machines. Load generator and server shared the cores. Your figures will differ: run it yourself,
                by `mvn spring-boot:run` and the browser, or by

                ```
                mvn spring-boot:run -Dspring-boot.run.arguments=--lab=all
                ```

                | | |
                |---|---|
                | cores | %d |
                | memory | %,d MB |
                | Java | %s, %s |
                | date | %s |

                Each figure is the median of the rounds, with the lowest and the highest where they differ.
                """.formatted(
                        machine.cores(), machine.memoryMegabytes(), machine.java(), machine.system(), machine.date())
                + report.experiments().stream().map(ExperimentsPage::entry).collect(Collectors.joining());
    }

    private static String entry(Report.Entry entry) {
        return """

                ## %s. %s

                %s

                %s
                %s
                What this does not show: %s
                """.formatted(
                        entry.number(),
                        entry.title(),
                        entry.question(),
                        entry.answer() == null
                                ? "It failed: %s\n".formatted(entry.failure())
                                : "**" + entry.answer().sentence() + "**\n\n" + answer(entry, entry.answer()),
                        command(entry),
                        entry.notShown());
    }

    private static String answer(Report.Entry entry, Answer answer) {
        StringBuilder page = new StringBuilder();
        if (!answer.rows().isEmpty()) {
            page.append(table(answer.columns(), answer.rows(), entry)).append('\n');
        }
        page.append(facts(answer.facts()));
        answer.notes().forEach(note -> page.append("- ").append(note).append('\n'));
        page.append(others(entry));
        return page.toString();
    }

    private static String table(List<Column> columns, List<Row> rows, Report.Entry entry) {
        String head = columns.stream().map(TextTable::heading).collect(Collectors.joining(" | ", "| | ", " |\n"));
        return head
                + "|---".repeat(columns.size() + 1)
                + "|\n"
                + rows.stream()
                        .map(row -> columns.stream()
                                .map(column -> figure(entry, row, column))
                                .collect(Collectors.joining(" | ", "| " + row.name() + " | ", " |\n")))
                        .collect(Collectors.joining());
    }

    private static String figure(Report.Entry entry, Row row, Column column) {
        String measured = TextTable.figure(row.figures().get(column.key()));
        Optional<Published> published = Published.of(entry).stream()
                .filter(each -> each.isComparable(entry)
                        && each.row().equals(row.name())
                        && each.column().equals(column.key()))
                .findFirst();
        return published
                .map(each -> "%s; published: %s".formatted(measured, each.figure()))
                .orElse(measured);
    }

    private static String facts(Facts facts) {
        StringBuilder page = new StringBuilder();
        for (List<String> row : facts.rows()) {
            for (int i = 1; i < row.size(); i++) {
                page.append("%s, %s:\n\n```text\n%s\n```\n\n"
                        .formatted(row.getFirst(), facts.columns().get(i), row.get(i)));
            }
        }
        return page.toString();
    }

    /** What was published for other settings than those of the run. */
    private static String others(Report.Entry entry) {
        return Published.of(entry).stream()
                .filter(each -> !each.isComparable(entry))
                .map(each -> "- Published for %s: %s with %s, in the unit of the column \"%s\"\n"
                        .formatted(
                                settings(each.settings()),
                                each.figure(),
                                each.row(),
                                label(entry.answer().columns(), each.column())))
                .collect(Collectors.joining());
    }

    private static String label(List<Column> columns, String key) {
        return columns.stream()
                .filter(column -> column.key().equals(key))
                .map(TextTable::heading)
                .findFirst()
                .orElse(key);
    }

    private static String command(Report.Entry entry) {
        String options = entry.settings().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(setting -> " --lab.%s=%d".formatted(setting.getKey(), setting.getValue()))
                .collect(Collectors.joining());
        return "```\nmvn spring-boot:run -Dspring-boot.run.arguments=\"--lab=%s%s\"\n```\n"
                .formatted(entry.id(), options);
    }

    private static String settings(Map<String, Integer> settings) {
        return settings.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(setting -> "%s %,d".formatted(setting.getKey(), setting.getValue()))
                .collect(Collectors.joining(", "));
    }
}
