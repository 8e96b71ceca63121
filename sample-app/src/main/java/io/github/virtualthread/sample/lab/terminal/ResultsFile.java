package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Report.Entry;
import java.util.stream.Collectors;

/** All figures of a report as text, with what others have published for the same settings. */
final class ResultsFile {

    private ResultsFile() {}

    static String of(Report report) {
        return "All figures of experiments.md, written from experiments.json. A figure is a median, with the range of its rounds.\n"
                + report.experiments().stream().map(ResultsFile::section).collect(Collectors.joining());
    }

    private static String section(Entry run) {
        String published = Published.of(run.id()).stream()
                .filter(each -> each.isBeside(run))
                .map(each -> "  Published: %s, %s: %s%n"
                        .formatted(each.row(), ExperimentsPage.label(run, each.column()), each.figure())
                        .replace("\r", ""))
                .collect(Collectors.joining());
        return "\n\n%s%s\n%s%s"
                .formatted(
                        TextTable.wrap(run.title()),
                        TextTable.wrap("  " + ExperimentsPage.settings(run.settings())),
                        run.answer() == null
                                ? "  It failed: %s\n".formatted(run.failure())
                                : TextTable.of(run.answer()),
                        TextTable.wrap(published));
    }
}
