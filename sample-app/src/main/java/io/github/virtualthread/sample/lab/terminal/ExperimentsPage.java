package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Report.Entry;
import io.github.virtualthread.sample.lab.Report.Machine;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A report as the measured part of a page, with what others have published beside what was measured. */
final class ExperimentsPage {

    private static final String NAME = "experiments";

    private ExperimentsPage() {}

    /** The page with the short form of that report in place of what is between the marks. */
    static String in(String page, Report report) {
        return Claims.in(MarkedPart.in(page, NAME, brief(report)), report);
    }

    /** What was found, without the tables: {@link ResultsFile} has them. */
    static String brief(Report report) {
        return page(report, ExperimentsPage::briefSection);
    }

    static String of(Report report) {
        return page(report, ExperimentsPage::section);
    }

    private static String page(Report report, Function<List<Entry>, String> section) {
        Machine machine = report.machine();
        Collection<List<Entry>> experiments = report.experiments().stream()
                .collect(Collectors.groupingBy(Entry::id, LinkedHashMap::new, Collectors.toList()))
                .values();
        return """
                Measured on %d cores with %,d MB of memory, Java %s, %s, on %s.

                | experiment | figure | compare | with |
                |---|---|---|---|
                %s
                Each figure is a median, with the lowest and the highest round where they differ.
                """.formatted(
                                machine.cores(),
                                machine.memoryMegabytes(),
                                machine.java(),
                                machine.system(),
                                machine.date(),
                                Headline.ALL.stream()
                                        .map(headline -> summary(headline, experiments))
                                        .collect(Collectors.joining()))
                + experiments.stream().map(section).collect(Collectors.joining());
    }

    private static String summary(Headline headline, Collection<List<Entry>> experiments) {
        return experiments.stream()
                .map(List::getFirst)
                .filter(entry -> entry.id().equals(headline.experiment()))
                .flatMap(entry -> headline.cells(entry).stream()
                        .map(cells ->
                                MarkdownTable.line(List.of("[%s](#%s)".formatted(head(entry), anchor(entry))), cells)))
                .collect(Collectors.joining());
    }

    private static String briefSection(List<Entry> runs) {
        Entry first = runs.getFirst();
        String remarks = Published.REMARKS.stream()
                .filter(each -> each.experiment().equals(first.id()))
                .map(each -> "\n%s\n".formatted(each.text()))
                .collect(Collectors.joining());
        return "\n## %s\n\n%s\n\n**%s**\n%s\nWhat this does not show: %s\n"
                .formatted(
                        head(first),
                        first.question(),
                        runs.stream()
                                .filter(run -> run.answer() != null)
                                .map(run -> run.answer().sentence())
                                .findFirst()
                                .orElse("It failed."),
                        remarks,
                        first.notShown());
    }

    private static String section(List<Entry> runs) {
        Entry first = runs.getFirst();
        StringBuilder page = new StringBuilder("\n## %s\n\n%s\n".formatted(head(first), first.question()));
        runs.stream()
                .filter(run -> run.answer() == null)
                .forEach(run -> page.append("\nIt failed: %s\n".formatted(run.failure())));
        runs.stream()
                .filter(run -> run.answer() != null)
                .findFirst()
                .ifPresent(
                        run -> page.append("\n**%s**\n".formatted(run.answer().sentence())));
        page.append(figures(runs));
        runs.stream()
                .filter(run -> run.answer() != null)
                .forEach(run -> page.append(facts(run.answer().facts())));
        String notes =
                Stream.of(notes(runs), others(runs)).flatMap(List::stream).collect(Collectors.joining());
        return page
                + (notes.isEmpty() ? "" : "\n" + notes)
                + "\nWhat this does not show: %s\n\n%s".formatted(first.notShown(), command(runs));
    }

    /** The title, without the settings that tell runs apart. */
    private static String head(Entry entry) {
        return entry.title().split(": ")[0];
    }

    private static String anchor(Entry entry) {
        return head(entry)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    /** All runs in one table; columns in which nothing was counted are named below it. */
    private static String figures(List<Entry> runs) {
        List<Line> lines = runs.stream()
                .filter(run -> run.answer() != null)
                .flatMap(run -> run.answer().rows().stream().map(row -> new Line(run, row)))
                .toList();
        if (lines.isEmpty()) {
            return "";
        }
        List<String> settings = Entry.differing(runs);
        List<String> heads = Stream.concat(settings.stream(), Stream.of("")).toList();
        List<Column> columns = lines.getFirst().run().answer().columns();
        List<Column> nothing = columns.stream()
                .filter(column -> lines.stream().allMatch(line -> line.isZero(column)))
                .toList();
        List<Column> shown = new ArrayList<>(columns);
        shown.removeAll(nothing);
        String table = MarkdownTable.of(heads, shown, lines, line -> line.names(settings), Line::figure);
        return "\n" + table
                + (nothing.isEmpty()
                        ? ""
                        : "\nIn all rows 0: %s.\n"
                                .formatted(
                                        nothing.stream().map(TextTable::heading).collect(Collectors.joining(", "))));
    }

    private static String facts(Facts facts) {
        if (facts.rows().stream().allMatch(row -> row.size() > 3)) {
            return facts.rows().isEmpty() ? "" : "\n" + factsTable(facts);
        }
        StringBuilder page = new StringBuilder();
        for (List<String> row : facts.rows()) {
            for (int i = 1; i < row.size(); i++) {
                page.append("\n%s, %s:\n\n```text\n%s\n```\n"
                        .formatted(row.getFirst(), facts.columns().get(i), row.get(i)));
            }
        }
        return page.toString();
    }

    /** Many cells are words, not lines. */
    private static String factsTable(Facts facts) {
        return MarkdownTable.line(facts.columns(), List.of())
                + "|---".repeat(facts.columns().size())
                + "|\n"
                + facts.rows().stream()
                        .map(row -> MarkdownTable.line(row, List.of()))
                        .collect(Collectors.joining());
    }

    /** Each once; what only some runs have said is one line that begins with their settings. */
    private static List<String> notes(List<Entry> runs) {
        Map<String, List<Entry>> runsOf = new LinkedHashMap<>();
        runs.stream().filter(run -> run.answer() != null).forEach(run -> run.answer()
                .notes()
                .forEach(note ->
                        runsOf.computeIfAbsent(note, none -> new ArrayList<>()).add(run)));
        List<String> common = new ArrayList<>();
        Map<String, List<String>> special = new LinkedHashMap<>();
        runsOf.forEach((note, those) -> {
            if (those.size() == runs.size()) {
                common.add("- %s\n".formatted(note));
            } else {
                String which = those.stream()
                        .map(run -> settings(run, Entry.differing(runs)))
                        .collect(Collectors.joining("; "));
                special.computeIfAbsent(which, none -> new ArrayList<>()).add(note);
            }
        });
        special.forEach((which, those) -> common.add("- With %s: %s\n".formatted(which, String.join("; ", those))));
        return common;
    }

    /** What was published and stands beside no figure. */
    private static List<String> others(List<Entry> runs) {
        String experiment = runs.getFirst().id();
        Stream<String> figures = Published.of(experiment).stream()
                .filter(each -> runs.stream().noneMatch(each::isBeside))
                .map(each -> "- Published for %s: %s with %s, in the unit of the column \"%s\"\n"
                        .formatted(settings(each.settings()), each.figure(), each.row(), label(runs, each.column())));
        Stream<String> remarks = Published.REMARKS.stream()
                .filter(each -> each.experiment().equals(experiment))
                .map(each -> "- %s\n".formatted(each.text()));
        return Stream.concat(figures, remarks).toList();
    }

    static String label(Entry run, String key) {
        return label(List.of(run), key);
    }

    private static String label(List<Entry> runs, String key) {
        return runs.stream()
                .filter(run -> run.answer() != null)
                .flatMap(run -> run.answer().columns().stream())
                .filter(column -> column.key().equals(key))
                .map(TextTable::heading)
                .findFirst()
                .orElse(key);
    }

    /** Several runs are those of the published settings. */
    private static String command(List<Entry> runs) {
        Entry first = runs.getFirst();
        String options = runs.size() > 1
                ? " --lab.scale=published"
                : first.settings().entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(setting -> " --lab.%s=%d".formatted(setting.getKey(), setting.getValue()))
                        .collect(Collectors.joining());
        String same = settings(
                first,
                first.settings().keySet().stream()
                        .filter(name -> !Entry.differing(runs).contains(name))
                        .toList());
        return (runs.size() > 1 ? "All of these runs had: %s.\n\n".formatted(same) : "")
                + "```\nmvn spring-boot:run -Dspring-boot.run.arguments=\"--lab=%s%s\"\n```\n"
                        .formatted(first.id(), options);
    }

    static String settings(Entry run, Collection<String> names) {
        return settings(run.settings().entrySet().stream()
                .filter(setting -> names.contains(setting.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    static String settings(Map<String, Integer> settings) {
        return settings.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(setting -> "%s %,d".formatted(setting.getKey(), setting.getValue()))
                .collect(Collectors.joining(", "));
    }

    /** One line of the table. */
    private record Line(Entry run, Row row) {

        List<String> names(List<String> settings) {
            return Stream.concat(
                            settings.stream()
                                    .map(name -> "%,d".formatted(run.settings().get(name))),
                            Stream.of(row.name()))
                    .toList();
        }

        boolean isZero(Column column) {
            Answer.Figure figure = row.figures().get(column.key());
            return figure != null && figure.min() == 0 && figure.max() == 0;
        }

        String figure(Column column) {
            String measured = TextTable.figure(row.figures().get(column.key()));
            Optional<Published> published = Published.of(run.id()).stream()
                    .filter(each -> each.isBeside(run)
                            && each.isOf(row.name())
                            && each.column().equals(column.key()))
                    .findFirst();
            return published
                    .map(each -> "%s; published: %s".formatted(measured, each.figure()))
                    .orElse(measured);
        }
    }
}
