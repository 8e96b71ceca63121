package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Chromium;
import io.github.virtualthread.sample.lab.Report;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledIf(
        value = "io.github.virtualthread.sample.lab.Chromium#isInstalled",
        disabledReason = "No chromium on the PATH: install it, and run this by Maven, to have the report tested")
@Timeout(300)
@Tag("slow")
class HtmlReportTests {

    @ParameterizedTest
    @ValueSource(ints = {1280, 390})
    void theReportIsAsWideAsTheWindowAndItsTablesScroll(int width) {
        try (Chromium chromium = Chromium.launch()) {
            Page page = chromium.browser().newPage(new Browser.NewPageOptions().setViewportSize(width, 900));
            page.setContent(HtmlReport.of(report()));

            assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(width);
            assertThat(page.locator(".scroll > table").count()).isEqualTo(2);
            assertThat(page.locator(".scroll")
                            .first()
                            .evaluate("box => { box.scrollLeft = 9999; return box.scrollWidth - box.clientWidth"
                                    + " - Math.round(box.scrollLeft); }"))
                    .isEqualTo(0);
        }
    }

    private static Report report() {
        Map<String, Figure> figures = new LinkedHashMap<>();
        List<Column> columns = IntStream.rangeClosed(1, 9)
                .mapToObj(at -> new Column("k" + at, "until the server has stopped working on that", "ms"))
                .toList();
        columns.forEach(column -> figures.put(column.key(), new Figure(1234, 1000, 2345)));
        String stack = "\tat " + "io.github.virtualthread.sample.".repeat(6) + "ContextTasks.failAsync";
        Answer answer = new Answer(
                        "It took a while.",
                        columns,
                        List.of(new Row("@ConcurrencyLimit of Spring", figures)),
                        List.of(),
                        List.of())
                .withFacts(new Facts(
                        List.of("", "@Async", "@VirtualThread"), List.of(List.of("The stack", stack, stack))));
        Line line = new Line("done", List.of(new double[] {0, 0}, new double[] {1, 1}));
        Report.Entry entry = new Report.Entry(
                "wide", "1", "Wide", "How wide?", "Anything.", Map.of("rounds", 3), answer, List.of(line), null);
        return new Report(new Report.Machine(2, 1_024, "25", "Linux", LocalDate.of(2026, 1, 2)), List.of(entry));
    }
}
