package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Route;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** What the page does with a result, in a real browser. The answers are given here: none is measured. */
@BrowserTest
class LabResultTests extends InBrowser {

    private static final String STARTS = "**/lab/experiments/*/runs";
    private static final String LINE = "platform threads, the quick ones";
    private static final String STACK =
            "\tat " + "io.github.virtualthread.sample.".repeat(4) + "ContextTasks.failAsync";

    @Autowired
    private JsonMapper json;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Virtual threads beat every pool | Your guess was right: Virtual threads beat every pool.
                    The pools win: threads are kept | Your guess was wrong: Virtual threads beat every pool. Measured: The pools win: threads are kept.
                    ''                              | You guessed: Virtual threads beat every pool. These figures do not decide it.
                    """)
    void aGuessIsAnswered(String right, String told) {
        card.getByText("Virtual threads beat every pool").click();
        answerWith(wide().withRight(right));
        run();

        assertThat(card.locator(".guessed")).hasText(told);
        assertThat(page.locator("#announcer")).hasText("Experiment 1: It took a while. " + told);
    }

    @Test
    void aGuessThatStaysOpenSaysWhy() {
        card.getByText("Virtual threads beat every pool").click();
        answerWith(wide().withRight("", "The ranges overlap."));
        run();

        assertThat(card.locator(".guessed"))
                .hasText(
                        "You guessed: Virtual threads beat every pool. These figures do not decide it. The ranges overlap.");
    }

    @Test
    void whoHasNotGuessedIsNotToldOfAGuess() {
        answerWith(wide().withRight("Virtual threads beat every pool"));
        run();

        waitForAnswer();
        assertThat(card.locator(".guessed")).isHidden();
    }

    @ParameterizedTest
    @ValueSource(ints = {1280, 390})
    void aWideTableScrollsInItsBoxAndSaysSo(int width) {
        page.setViewportSize(width, 900);
        answerWith(wide());
        run();
        waitForAnswer();

        Locator scroll = card.locator(".table .scroll");
        assertThat(card.locator(".table .more")).isVisible();
        assertThat(card.locator(".table .more")).hasText("Scroll sideways to see all columns →");
        assertThat(scroll.evaluate("box => box.scrollWidth > box.clientWidth")).isEqualTo(true);
        scroll.scrollIntoViewIfNeeded();
        scroll.evaluate("box => { box.scrollLeft = 9999; }");
        assertThat(card.locator(".table td").last()).isInViewport();
        assertThat(card.locator(".table tbody th").first()).isInViewport();
        assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(width);
    }

    @Test
    void aTableThatFitsSaysNothingOfScrolling() {
        answerWith(answer(2));
        run();
        waitForAnswer();

        assertThat(card.locator(".table table")).isVisible();
        assertThat(card.locator(".table .more")).isHidden();
    }

    @Test
    void onANarrowScreenTextsStandBelowEachOther() {
        page.setViewportSize(390, 900);
        answerWith(answer(1)
                .withFacts(new Facts(
                        List.of("", "@Async", "@VirtualThread"), List.of(List.of("The stack", STACK, STACK)))));
        run();
        waitForAnswer();

        for (Locator cell : card.locator(".facts td").all()) {
            assertThat(cell.evaluate("cell => [cell.getBoundingClientRect().right <= innerWidth,"
                            + " cell.scrollWidth <= cell.clientWidth].join()"))
                    .isEqualTo("true,true");
        }
        assertThat(card.locator(".facts td").last().evaluate("cell => getComputedStyle(cell, '::before').content"))
                .isEqualTo("\"@VirtualThread\"");
        assertThat(card.locator(".facts .more")).isHidden();
    }

    /** The names beside the bars, as they are drawn. */
    @ParameterizedTest
    @ValueSource(ints = {1280, 390})
    void theNamesOfTheBarsDoNotMeet(int width) {
        page.setViewportSize(width, 900);
        answerWith(wide());
        run();
        waitForAnswer();

        assertThat(card.locator(".canvas.bars canvas").evaluate(ROOM_BETWEEN_NAMES))
                .asInstanceOf(InstanceOfAssertFactories.type(Number.class))
                .matches(room -> room.doubleValue() > 0, "has room");
    }

    private static final String ROOM_BETWEEN_NAMES = """
            canvas => {
              const { y } = Chart.getChart(canvas).scales;
              const lines = y.ticks.map(tick => [tick.label].flat().length);
              const row = y.getPixelForTick(1) - y.getPixelForTick(0);
              return row - Math.max(...lines) * y.options.ticks.font.size * 1.2 ;
            }""";

    @Test
    void aReloadKeepsTheResultItsSettingsAndItsGuess() {
        card.getByText("Virtual threads beat every pool").click();
        fill(Map.of("tasks", "20", "millis", "100", "rounds", "3"));
        answerWith(wide().withRight("Virtual threads beat every pool"));
        run();
        waitForAnswer();
        String table = card.locator(".table").innerText();
        List<Object> drawn = charts(DRAWN);
        assertThat(drawn).hasSize(2);

        open();
        waitForAnswer();
        assertThat(card.locator(".sentence")).hasText("It took a while.");
        assertThat(card.locator(".guessed")).hasText("Your guess was right: Virtual threads beat every pool.");
        assertThat(card.locator(".of"))
                .hasText(Pattern.compile("Result of an earlier run, \\d+ \\w+ \\d{4}, \\d+:\\d+"));
        assertThat(card.locator(".table").innerText()).isEqualTo(table);
        assertThat(charts(DRAWN)).isEqualTo(drawn);
        // the label of this chart holds the word "tasks"
        assertThat(card.locator("canvas[aria-label^='Lines: The last round: tasks done']"))
                .isVisible();
        assertThat(field("Tasks")).hasValue("20");
        assertThat(page.locator("#blocking-requests .result")).isHidden();
    }

    private static final String DRAWN = "JSON.stringify(chart.data.datasets.map(each => each.data))";

    @Test
    void theChartOfTheRunSaysWhatIsLeftOfIt() {
        answerWith(wide());
        run();
        waitForAnswer();

        assertThat(card.locator("figure:not([hidden]) figcaption").last()).hasText("The last round: tasks done");
    }

    @Test
    void whatTheAnswerDrawsIsNotDrawnTwice() {
        Answer plain = wide();
        Answer.Line line = new Answer.Line(LINE, List.of(new double[] {0, 5}, new double[] {1, 5}));
        answerWith(new Answer(
                plain.sentence(),
                plain.columns(),
                plain.rows(),
                List.of(new Answer.Chart("Tasks of each", "seconds", "tasks", List.of(line))),
                plain.notes()));
        run();
        waitForAnswer();

        assertThat(card.locator("figure:not([hidden]) figcaption").last()).hasText("Tasks of each");
        assertThat(charts(DRAWN)).hasSize(2); // with the bars
    }

    @Test
    void aResultThatCannotBeReadIsLeftOut() {
        page.evaluate("localStorage.setItem('lab.result.1.pool-or-virtual', '{')");
        page.evaluate("localStorage.setItem('lab.result.1.blocking-requests', '{\"settings\":{},\"lines\":[]}')");
        open();

        assertThat(page.locator("#tour")).isEnabled();
        assertThat(card.locator(".result")).isHidden();
        assertThat(page.locator("#blocking-requests .result")).isHidden();
    }

    @Test
    void theResultAndTheCommandCanBeCopied() {
        page.context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
        answerWith(answer(2).withFacts(new Facts(List.of("", "@Async"), List.of(List.of("The log", "INFO [] sent")))));
        fill(Map.of("tasks", "20", "millis", "100", "rounds", "1"));
        run();
        waitForAnswer();

        card.locator(".copy-result").click();
        assertThat(card.locator(".copied")).hasText("Copied");
        assertThat(page.locator("#announcer")).hasText("Copied");
        assertThat(clipboard()).isEqualTo("""
                ## Pool or virtual threads

                millis 100, rounds 1, tasks 20

                **It took a while.**

                |  | until all of them are done 1 (ms) | until all of them are done 2 (ms) |
                | --- | --- | --- |
                | platform threads, the quick ones | 5,355 (1,000 to 9,876) | 5,355 (1,000 to 9,876) |
                | the same, waiting longer for a connection | 5,355 (1,000 to 9,876) | 5,355 (1,000 to 9,876) |

                The log, @Async:

                ```text
                INFO [] sent
                ```

                - A note.
                """);

        card.locator(".repeat summary").click();
        card.locator(".repeat .copy").click();
        assertThat(card.locator(".repeat .copy")).hasText("Copied");
        assertThat(clipboard())
                .isEqualTo("mvn spring-boot:run -Dspring-boot.run.arguments="
                        + "\"--lab=pool-or-virtual --lab.tasks=20 --lab.millis=100 --lab.rounds=1\"");
    }

    @Test
    void whoMayNotCopyIsToldWhatToDo() {
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); }");
        card.locator(".repeat summary").click();
        card.locator(".repeat .copy").click();

        assertThat(card.locator(".repeat .copy")).hasText("The browser refuses: select the text");
    }

    @Test
    void everyCardSaysHowLongItTakesAndTheTourDoesToo() {
        for (About about : lab.experiments()) {
            assertThat(page.locator("#" + about.id() + " .estimate"))
                    .hasText("Takes about %d s".formatted(about.seconds()));
        }
        fill(Map.of("rounds", "1"));
        assertThat(card.locator(".estimate"))
                .hasText("Takes about %d s with the default settings"
                        .formatted(lab.experiments().getFirst().seconds()));
        assertThat(page.locator(".top-actions .hint"))
                .hasText(Pattern.compile(
                        "Runs every experiment once, in small settings, in about \\d+(\\.5)? (s|minutes)\\."));
    }

    /** In place of the server, which hears nothing of it: takes the settings of a run, and tells of two points and this answer. */
    private void answerWith(Answer answer) {
        page.route(STARTS, route -> {
            Map<String, Integer> settings = new HashMap<>();
            json.readTree(route.request().postData())
                    .properties()
                    .forEach(each -> settings.put(
                            each.getKey(), Integer.valueOf(each.getValue().asString())));
            route.fulfill(new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(json.writeValueAsString(Map.of("run", 1, "settings", settings))));
        });
        String events = event("point", new LabRun.Point(LINE, 0, 5))
                + event("point", new LabRun.Point(LINE, 1, 5))
                + event("answer", new LabRun.Answered(answer));
        page.route(
                EVENTS,
                route -> route.fulfill(new Route.FulfillOptions()
                        .setContentType("text/event-stream;charset=UTF-8")
                        .setBody(events)));
    }

    private String event(String type, Object data) {
        String oneLine =
                json.writer().without(SerializationFeature.INDENT_OUTPUT).writeValueAsString(data);
        return "event: %s\ndata: %s\n\n".formatted(type, oneLine);
    }

    private static Answer wide() {
        return answer(9);
    }

    private static Answer answer(int columns) {
        Map<String, Figure> figures = new LinkedHashMap<>();
        List<Column> heads = IntStream.rangeClosed(1, columns)
                .mapToObj(at -> new Column("k" + at, "until all of them are done " + at, "ms"))
                .toList();
        heads.forEach(head -> figures.put(head.key(), new Figure(5355.2, 1000, 9876)));
        return new Answer(
                "It took a while.",
                heads,
                List.of(new Row(LINE, figures), new Row("the same, waiting longer for a connection", figures)),
                List.of(),
                List.of("A note."));
    }
}
