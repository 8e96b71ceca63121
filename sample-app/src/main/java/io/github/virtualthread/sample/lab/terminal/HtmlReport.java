package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Report;
import io.github.virtualthread.sample.lab.Report.Machine;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.web.util.HtmlUtils;

/** A report as one page that needs nothing else. */
final class HtmlReport {

    private static final String STYLE = """
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
                   color: #1c2430; background: var(--ground); --ground: #fff; overflow-wrap: break-word }
            table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .25rem .75rem; text-align: right;
                   border-bottom: 1px solid #8886 } td:first-child, th:first-child { text-align: left }
            .facts td { text-align: left; vertical-align: top; min-width: 15rem } th:first-child { min-width: 8rem }
            pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px }
            .scroll { overflow-x: auto; margin: 1rem 0;
                   background: linear-gradient(to right, var(--ground) 30%, transparent) 0 0 / 2.5rem 100% local,
                     linear-gradient(to left, var(--ground) 30%, transparent) 100% 0 / 2.5rem 100% local,
                     linear-gradient(to right, #888c, transparent) 0 0 / 1rem 100% scroll,
                     linear-gradient(to left, #888c, transparent) 100% 0 / 1rem 100% scroll;
                   background-repeat: no-repeat } .scroll table { margin: 0 }
            figure { margin: 1rem 0 } svg { width: 100%; min-width: 36rem; height: auto; font-size: 13px }
            svg text { fill: currentColor }
            .quiet { opacity: .8 } .mark { paint-order: stroke; stroke: var(--ground); stroke-width: 4px }
            @media (prefers-color-scheme: dark) { body { color: #e6e9ee; --ground: #14181f } }
            """;

    private HtmlReport() {}

    static String of(Report report) {
        Machine machine = report.machine();
        return """
                <!doctype html>
                <html lang="en">
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>What the experiments found</title>
                <style>%s</style>
                %s<h1>What the experiments found</h1>
                <p>%d cores, %,d MB of memory, Java %s on %s, %s. Load generator and server share the cores.</p>
                %s</html>
                """.formatted(
                        STYLE,
                        LinesSvg.PATTERNS,
                        machine.cores(),
                        machine.memoryMegabytes(),
                        escape(machine.java()),
                        escape(machine.system()),
                        machine.date(),
                        report.experiments().stream().map(HtmlReport::entry).collect(Collectors.joining()));
    }

    private static String entry(Report.Entry entry) {
        String found = entry.answer() == null
                ? "<p>Failed: %s</p>\n".formatted(escape(entry.failure()))
                : answer(entry.answer(), entry);
        return """
                <h2 id="%s">%s. %s</h2>
                <p>%s</p>
                <p class="quiet">%s</p>
                %s<p class="quiet">What this does not show: %s</p>
                """.formatted(
                        escape(entry.id()),
                        escape(entry.number()),
                        escape(entry.title()),
                        escape(entry.question()),
                        escape(entry.settings().entrySet().stream()
                                .map(setting -> setting.getKey() + " " + setting.getValue())
                                .sorted()
                                .collect(Collectors.joining(", "))),
                        found,
                        escape(entry.notShown()));
    }

    private static String answer(Answer answer, Report.Entry entry) {
        StringBuilder html = new StringBuilder();
        html.append("<p><strong>%s</strong></p>\n".formatted(escape(answer.sentence())));
        answer.notes().forEach(note -> html.append("<p>%s</p>\n".formatted(escape(note))));
        if (!answer.columns().isEmpty()) {
            html.append(Svg.bars(answer)).append(table(answer));
        }
        if (!answer.facts().rows().isEmpty()) {
            html.append(facts(answer.facts()));
        }
        answer.gantts().forEach(gantt -> html.append(Svg.gantt(gantt)));
        if (!entry.lines().isEmpty()) {
            Chart live = new Chart("While it ran", "seconds", "", entry.lines());
            html.append(LinesSvg.of(live, List.of(live)));
        }
        answer.charts().forEach(chart -> html.append(LinesSvg.of(chart, answer.charts())));
        return html.toString();
    }

    private static String facts(Facts facts) {
        String head = facts.columns().stream()
                .map(column -> "<th scope=\"col\">%s</th>".formatted(escape(column)))
                .collect(Collectors.joining());
        String rows = facts.rows().stream().map(HtmlReport::factsRow).collect(Collectors.joining());
        return scroll("What was found", "<table class=\"facts\">\n<tr>%s</tr>\n%s</table>\n".formatted(head, rows));
    }

    private static String factsRow(List<String> row) {
        String cells = row.stream()
                .skip(1)
                .map(cell -> "<td><pre>%s</pre></td>".formatted(escape(cell)))
                .collect(Collectors.joining());
        return "<tr><th scope=\"row\">%s</th>%s</tr>\n".formatted(escape(row.getFirst()), cells);
    }

    private static String table(Answer answer) {
        String head = answer.columns().stream()
                .map(column -> "<th scope=\"col\">%s</th>".formatted(escape(TextTable.heading(column))))
                .collect(Collectors.joining());
        String rows = answer.rows().stream().map(row -> row(answer, row)).collect(Collectors.joining());
        return scroll("Figures", "<table>\n<tr><th></th>%s</tr>\n%s</table>\n".formatted(head, rows));
    }

    /** What is wider than the window scrolls by itself, also by the keyboard; shadows show where there is more. */
    static String scroll(String name, String wide) {
        return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n%s</div>\n"
                .formatted(name, wide);
    }

    private static String row(Answer answer, Row row) {
        return "<tr><th scope=\"row\">%s</th>%s</tr>\n"
                .formatted(
                        escape(row.name()),
                        answer.columns().stream()
                                .map(column -> "<td>%s</td>"
                                        .formatted(
                                                TextTable.figure(row.figures().get(column.key()))))
                                .collect(Collectors.joining()));
    }

    static String escape(String text) {
        return HtmlUtils.htmlEscape(text);
    }
}
