package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page in a real browser. */
@BrowserTest
class LabPageTests extends InBrowser {

    private static final String FIRST = "pool-or-virtual";
    private static final String RUNNING = "**/lab/runs/running";
    private static final Map<String, String> LONG = Map.of("tasks", "100", "millis", "5000", "rounds", "10");

    @Test
    void everyExperimentHasItsCardInItsAct() {
        List<String> expected = Stream.of(Act.values())
                .flatMap(act -> lab.experiments().stream().filter(about -> about.act() == act))
                .map(about -> about.act() + " " + about.id())
                .toList();

        assertThat(
                        texts(
                                "[...document.querySelectorAll('main .card[id]')].map(card => card.closest('[data-act]').dataset.act + ' ' + card.id)"))
                .isEqualTo(expected);
        assertThat(page.locator(".card .number").allInnerTexts())
                .isEqualTo(IntStream.rangeClosed(1, expected.size())
                        .mapToObj(String::valueOf)
                        .toList());
        assertThat(lab.experiments()).extracting(About::act).isSorted(); // the terminal has the same order
        assertThat(page.locator("[data-act] h2").allInnerTexts())
                .hasSameSizeAs(Act.values())
                .allSatisfy(title ->
                        assertThat(Stream.of(Act.values()).map(Act::title)).anyMatch(title::endsWith));
    }

    @Test
    void aRunShowsItsProgressThenWhatItHasMeasured() {
        card.getByText("A pool that is large enough is as fast").click();
        fill(SHORT);
        field("Rounds").fill("3");
        card.evaluate(Scripts.KEEP_STEPS);
        run();

        waitForAnswer();
        assertThat(texts("kept"))
                .startsWith("Starting")
                .anyMatch(step -> step.startsWith("Warming up: "))
                .anyMatch(step -> step.startsWith("Round 3 of 3: "));

        String sentence = card.locator(".sentence").innerText();
        assertThat(sentence).startsWith("20 tasks of 100 ms took ");
        String guessed = card.locator(".guessed").innerText();
        assertThat(guessed)
                .matches(
                        "(Your guess was right|Your guess was wrong|You guessed): A pool that is large enough is as fast.*");
        assertThat(page.locator("#announcer")).hasText("Experiment 1: " + sentence + " " + guessed);
        assertThat(card.locator("progress")).isHidden();
        assertTheTableHasTheFiguresOfTheBars();
        assertTheLinesEndAt(20);
        assertThat(coloursOf(".figures > figure:first-child canvas")).isGreaterThan(5);
        assertThat(coloursOf(".figures > figure:last-child canvas")).isGreaterThan(5);
        screenshots("light");

        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.DARK));
        card.locator(".logarithmic").check();
        assertThat(chart("figure:first-child", "chart.options.scales.x.title.text"))
                .isEqualTo("until all are done (ms), logarithmic");
        screenshots("dark");
        assertThat(texts(Scripts.LOW_CONTRAST)).isEmpty();
    }

    private void assertTheTableHasTheFiguresOfTheBars() {
        List<?> medians = (List<?>) chart("figure:first-child", "chart.data.datasets[0].data");
        List<String> cells = card.locator(".table tbody tr td:nth-child(2)").allInnerTexts();

        assertThat(cells).hasSameSizeAs(medians).hasSizeGreaterThan(3);
        IntStream.range(0, cells.size()).forEach(row -> {
            double median = ((Number) medians.get(row)).doubleValue();
            assertThat(cells.get(row).lines().findFirst()).hasValue("%,.0f".formatted(median));
            assertThat(median).isGreaterThanOrEqualTo(100);
        });
    }

    private void assertTheLinesEndAt(int tasks) {
        assertThat((List<?>) chart("figure:last-child", "chart.data.datasets.map(line => line.data.at(-1).y)"))
                .hasSize(card.locator(".table tbody tr").count())
                .allMatch(Integer.valueOf(tasks)::equals);
        card.locator(".figures > figure:last-child summary").click();
        Locator reached = card.locator(".points-table tbody tr").last().locator("td");
        reached.first().waitFor();
        assertThat(reached.allInnerTexts()).isNotEmpty().containsOnly(String.valueOf(tasks));
    }

    @Test
    void theSliderStaysWhileItsChangeIsOnItsWay() {
        Locator slider = resizable(Map.of("first", "5"));
        Locator permits = card.locator(".resize output");
        assertThat(permits).hasText("5 permits");
        Runnable release = hold("**/actuator/virtualthreads/lab");

        slider.press("ArrowRight");
        page.evaluate(Scripts.FOUR_TIMES_LIVE); // with the 5 there are
        assertThat(permits.innerText()).isEqualTo("6 permits");

        release.run();
        assertThat(page.locator(".limits")).containsText(Pattern.compile("lab\\s*\\d of 6 in use"));
    }

    @Test
    void whatWasFoundInWordsIsATable() throws Exception {
        card = page.locator("#context-and-cancel");
        fill(Map.of("millis", "100"));
        Response started = page.waitForResponse("**/runs", this::run);
        waitForAnswer();

        Answer.Facts facts =
                lab.run(numberOf(started)).orElseThrow().answer().get().facts();
        assertThat(card.locator(".facts thead th").allInnerTexts()).isEqualTo(facts.columns());
        assertThat(card.locator(".facts tbody").locator("th, td").allTextContents())
                .isEqualTo(facts.rows().stream().flatMap(List::stream).toList());
        assertThat(card.locator(".scale")).isHidden();
    }

    @Test
    void partsOfAWorkAreBarsFromTheirBeginToTheirEnd() throws Exception {
        card = page.locator("#composite-task");
        fill(Map.of("fan", "10", "millis", "1", "rounds", "1"));
        Response started = page.waitForResponse("**/runs", this::run);
        waitForAnswer();

        List<Answer.Gantt> gantts =
                lab.run(numberOf(started)).orElseThrow().answer().get().gantts();
        assertThat(card.locator(".figures > figure.small figcaption").allInnerTexts())
                .isEqualTo(gantts.stream().map(Answer.Gantt::title).toList());
        assertThat(card.locator(".figures > figure.small").first().locator("tbody tr"))
                .hasCount(gantts.getFirst().spans().size());
        Answer.Span part = gantts.getFirst().spans().getFirst();
        assertThat((List<?>) card.locator("figure.small canvas")
                        .first()
                        .evaluate("canvas => Chart.getChart(canvas).data.datasets[0].data[0]"))
                .hasToString(List.of(part.from(), part.to()).toString());
        card.screenshot(new Locator.ScreenshotOptions().setPath(SCREENSHOTS.resolve("composite-task.png")));
    }

    @Test
    void whatTheServerSaysOfABadValueIsShown() {
        field("Tasks").fill("0");
        run();

        assertThat(card.getByRole(AriaRole.ALERT)).hasText("'Tasks' must be a whole number from 1 to 100,000, was '0'");
        assertThat(field("Tasks")).hasAttribute("aria-invalid", "true");
        expectStatus(400);
    }

    @Test
    void aRunCanBeCancelled() {
        fill(LONG);
        run();
        card.locator(".cancel").click();

        assertThat(card.locator(".problem-text")).hasText("Cancelled");
        assertThat(card.locator(".run")).isFocused();
        assertThat(lab.running()).isEmpty();
    }

    @Test
    void aRunThatIsInTheWayCanBeCancelledFromHere() {
        LabRun other = lab.start(FIRST, LONG, Scale.NORMAL);
        fill(SHORT);
        run();
        assertThat(card.locator(".problem-text"))
                .hasText("'Pool or virtual threads' runs. Wait for its end, or cancel it");

        card.locator(".instead").click();

        waitForAnswer();
        assertThat(other.answer()).failsWithin(2, TimeUnit.MINUTES);
        expectStatus(409);
    }

    @Test
    void aPageThatIsOpenedInTheMiddleFollowsTheRun() {
        page.route(RUNNING, route -> {
            lab.start(FIRST, Map.of("tasks", "20", "millis", "300", "rounds", "1"), Scale.NORMAL);
            route.resume();
        });
        Runnable release = hold(EVENTS);
        open();

        assertThat(card.locator(".cancel")).isVisible();
        assertThat(field("Each blocks")).hasValue("300");
        release.run();
        waitForAnswer();
        assertTheLinesEndAt(20);
    }

    @Test
    void nothingCanBeStartedBeforeThePageKnowsWhatRuns() {
        Runnable release = hold(RUNNING);
        page.waitForRequest(RUNNING, page::reload);

        assertThat(page.locator(".run").count()).isZero();
        release.run();
        card.waitFor();
    }

    @Test
    void whoLosesTheConnectionIsToldEverythingAgainAndShowsItOnce() {
        AtomicBoolean lost = new AtomicBoolean();
        page.route(EVENTS, route -> {
            if (lost.compareAndSet(false, true)) {
                route.fulfill(new Route.FulfillOptions()
                        .setContentType("text/event-stream")
                        .setBody("retry: 10\nevent: point\ndata: {\"line\":\"of before\",\"x\":0,\"y\":1}\n\n"));
            } else {
                route.resume();
            }
        });
        fill(SHORT);
        run();

        waitForAnswer();
        assertThat(lost).isTrue();
        assertThat(card.locator(".legend li").allInnerTexts())
                .hasSize(card.locator(".table tbody tr").count())
                .doesNotContain("of before");
    }

    @Test
    void theTourRunsTheFirstExperimentInSmallSettingsUntilItIsStopped() {
        Runnable release = hold(EVENTS);
        page.locator("#tour").click();
        assertThat(page.locator(".tour-text"))
                .hasText(Pattern.compile("Tour, 1 of \\d+: Pool or virtual threads, about \\d.* left"));
        assertThat(card.locator(".cancel")).isVisible();
        About about = lab.experiments().getFirst();
        assertThat(field("Tasks"))
                .hasValue(String.valueOf(about.parameters().getFirst().small()));

        page.waitForRequest(request -> request.method().equals("DELETE"), () -> page.locator(".tour-stop")
                .click());
        release.run();

        assertThat(page.locator("#announcer")).hasText("The tour is stopped");
        assertThat(page.locator("#tour")).isEnabled();
        assertThat(lab.running()).isEmpty();
    }

    @Test
    void aTourThatIsStoppedWhileItStartsARunCancelsThat() {
        Runnable release = hold("**/runs");
        page.waitForRequest("**/runs", () -> page.locator("#tour").click());
        page.locator(".tour-stop").click();

        page.waitForRequest(request -> request.method().equals("DELETE"), release);
        assertThat(page.locator("#announcer")).hasText("The tour is stopped");
    }

    @Test
    void thePanelShowsTheLimitsAndTheJvm() {
        assertThat(page.locator(".limits")).containsText(Pattern.compile("db\\s*0 of 20 in use\\s*nobody waits"));
        assertThat(page.locator(".jvm")).containsText(Pattern.compile("Platform threads\\s*[1-9]"));
        assertThat(page.locator(".jvm")).containsText(Pattern.compile("Heap\\s*[1-9]\\d* MB"));
    }

    @Test
    void theCalculatorSaysWhetherItFits() {
        Locator form = page.locator(".calculator");
        form.getByLabel("Calls per second").fill("100");
        form.getByLabel("Time of one call").fill("0.07"); // in floating point, 100 times that is a little more than 7
        form.getByLabel("Busy at most").fill("70");
        form.getByLabel("Maximum wait").fill("2");
        form.getByLabel("Replicas").fill("4");
        form.getByLabel("Connections").fill("40");
        assertThat(page.locator("#permits")).hasText("100 × 0.07 s / 70 % = 10");
        assertThat(page.locator("#queue")).hasText("10 × 2 s / 0.07 s = 285 calls; one more would wait too long");
        assertThat(page.locator("#fits")).hasText("4 × 10 = 40 connections: it fits, 0 are left for others");

        form.getByLabel("Connections").fill("39");
        assertThat(page.locator("#fits"))
                .hasText("4 × 10 = 40 connections: it does not fit. "
                        + "At most 9 permits in each replica, enough for 129 calls per second");
        form.getByLabel("Time of one call").fill("");
        assertThat(page.locator("#permits")).hasText("Rate and time are numbers above 0");
    }

    @Test
    void thePageLoadsNothingFromElsewhere() {
        assertThat(page.reload().headerValue("Content-Security-Policy")).startsWith("default-src 'self';");
        assertThat(texts("performance.getEntriesByType('resource').map(each => each.name)"))
                .anyMatch(name -> name.endsWith("/webjars/chart.js/dist/chart.umd.min.js"))
                .allMatch(name -> name.startsWith("http://localhost:" + port + "/"));
    }

    private static long numberOf(Response started) {
        Matcher number = Pattern.compile("\"run\"\\s*:\\s*(\\d+)").matcher(started.text());
        assertThat(number.find()).isTrue();
        return Long.parseLong(number.group(1));
    }

    /** A value of the chart in that figure. */
    private Object chart(String figure, String expression) {
        return card.locator(".figures > " + figure + " canvas")
                .evaluate("canvas => { const chart = Chart.getChart(canvas); return " + expression + "; }");
    }

    private int coloursOf(String canvas) {
        return (int) card.locator(canvas).evaluate(Scripts.COLOURS);
    }

    /** The browser itself tells of an answer of that status in the console. */
    private void expectStatus(int status) {
        assertThat(errors).hasSize(1).allMatch(error -> error.contains("status of " + status));
        errors.clear();
    }
}
