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
import java.util.stream.Stream;

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

                With `"--lab=all --lab.scale=published"` it takes the settings of those who have published figures, as far as they are
                known. What does not fit into the heap is left out, and the page says how much it needs.

                | | |
                |---|---|
                | cores | %d |
                | memory | %,d MB |
                | Java | %s, %s |
                | date | %s |

                Each figure is the median of the rounds, with the lowest and the highest where they differ.
                """.formatted(
                        machine.cores(), machine.memoryMegabytes(), machine.java(), machine.system(), machine.date())
                + report.experiments().stream()
                        .map(entry -> entry(entry, report))
                        .collect(Collectors.joining());
    }

    private static String entry(Report.Entry entry, Report report) {
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
                        (entry.answer() == null
                                        ? "It failed: %s\n\n".formatted(entry.failure())
                                        : "**" + entry.answer().sentence() + "**\n\n" + answer(entry, entry.answer()))
                                + others(entry, report),
                        command(entry),
                        entry.notShown());
    }

    private static String answer(Report.Entry entry, Answer answer) {
        StringBuilder page = new StringBuilder();
        if (!answer.rows().isEmpty()) {
            page.append(MarkdownTable.of(answer.columns(), answer.rows(), (row, column) -> figure(entry, row, column)))
                    .append('\n');
        }
        page.append(facts(answer.facts()));
        answer.notes().forEach(note -> page.append("- ").append(note).append('\n'));
        return page.toString();
    }

    private static String figure(Report.Entry entry, Row row, Column column) {
        String measured = TextTable.figure(row.figures().get(column.key()));
        Optional<Published> published = Published.of(entry.id()).stream()
                .filter(each -> each.isBeside(entry)
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

    /** What was published and stands beside no figure: where its settings were run, else where the experiment ran last. */
    private static String others(Report.Entry entry, Report report) {
        List<Report.Entry> runs = report.experiments().stream()
                .filter(each -> each.id().equals(entry.id()))
                .toList();
        boolean last = runs.getLast().equals(entry);
        Stream<String> figures = Published.of(entry.id()).stream()
                .filter(each -> runs.stream().noneMatch(each::isBeside))
                .filter(each ->
                        each.isComparable(entry) || (last && runs.stream().noneMatch(each::isComparable)))
                .map(each -> "- Published for %s: %s with %s, in the unit of the column \"%s\"\n"
                        .formatted(settings(each.settings()), each.figure(), each.row(), label(runs, each.column())));
        Stream<String> remarks = Published.REMARKS.stream()
                .filter(each -> last && each.experiment().equals(entry.id()))
                .map(each -> "- %s\n".formatted(each.text()));
        return Stream.concat(figures, remarks).collect(Collectors.joining());
    }

    private static String label(List<Report.Entry> runs, String key) {
        return runs.stream()
                .filter(run -> run.answer() != null)
                .flatMap(run -> run.answer().columns().stream())
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

    static String settings(Map<String, Integer> settings) {
        return settings.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(setting -> "%s %,d".formatted(setting.getKey(), setting.getValue()))
                .collect(Collectors.joining(", "));
    }
}
