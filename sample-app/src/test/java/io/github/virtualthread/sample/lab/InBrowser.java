package io.github.virtualthread.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

/** The page, opened anew for each test, by a browser that knows nothing of it; its console has to stay empty. */
abstract class InBrowser {

    static final Path SCREENSHOTS = Path.of("target/lab/screenshots");
    /** Settings of the first experiment with which it is soon over. */
    static final Map<String, String> SHORT = Map.of("tasks", "20", "millis", "100", "rounds", "1");

    static final String EVENTS = "**/lab/runs/*/events";
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final Duration RUN = Duration.ofMinutes(4);

    private static Chromium chromium;

    /** What the console tells, until it is cleared. */
    final List<String> errors = new ArrayList<>();

    @Autowired
    Lab lab;

    @LocalServerPort
    int port;

    Page page;

    /** The one of the experiment that is tested; the first one's to begin with. */
    Locator card;

    @BeforeAll
    static void launch() {
        chromium = Chromium.launch();
        PlaywrightAssertions.setDefaultAssertionTimeout(WAIT.toMillis());
    }

    @AfterAll
    static void close() {
        chromium.close();
    }

    @BeforeEach
    void openPage() {
        page = chromium.browser()
                .newPage(new Browser.NewPageOptions()
                        .setViewportSize(1280, 900)
                        .setColorScheme(ColorScheme.LIGHT)
                        .setReducedMotion(ReducedMotion.REDUCE));
        page.setDefaultTimeout(WAIT.toMillis());
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning")) {
                errors.add(message.text());
            }
        });
        page.onPageError(errors::add);
        open();
    }

    @AfterEach
    void closePage() {
        page.close();
        assertThat(errors).as("errors and warnings in the console").isEmpty();
    }

    final void open() {
        page.navigate("http://localhost:" + port + "/");
        card = page.locator("#pool-or-virtual");
        card.waitFor();
    }

    /** Keeps these requests back until the returned one is run. For a page without events, its run has begun and does not end. */
    final Runnable hold(String url) {
        List<Route> held = new ArrayList<>();
        page.route(url, held::add);
        return () -> {
            page.unroute(url);
            held.forEach(Route::resume);
        };
    }

    /** Runs the experiment whose limit can be resized by hand, for longer than any test takes; gives the slider for that. */
    final Locator resizable(Map<String, String> values) {
        card = page.locator("#limit-while-it-runs");
        fill(values);
        fill(Map.of("seconds", "60"));
        run();
        Locator slider = card.getByLabel("Permits of the limit lab");
        PlaywrightAssertions.assertThat(slider).isEnabled();
        return slider;
    }

    /** A field of the card, by its label and its role: a chart gets its label when it is drawn, and that may hold the same word. */
    final Locator field(String label) {
        return card.getByRole(AriaRole.SPINBUTTON, new Locator.GetByRoleOptions().setName(label));
    }

    final void fill(Map<String, String> values) {
        values.forEach((name, value) -> card.locator("input[name=" + name + "]").fill(value));
    }

    final void run() {
        card.locator(".run").click();
    }

    final void waitForAnswer() {
        card.locator(".result.answered").waitFor(new Locator.WaitForOptions().setTimeout(RUN.toMillis()));
    }

    /** What an expression of {@code chart} gives for each chart of the card that is to be seen. */
    @SuppressWarnings("unchecked")
    final List<Object> charts(String expression) {
        return (List<Object>) card.locator(".figures > figure:not([hidden]) canvas")
                .evaluateAll("all => all.map(each => Chart.getChart(each)).map(chart => " + expression + ")");
    }

    @SuppressWarnings("unchecked")
    final List<String> texts(String script) {
        return (List<String>) page.evaluate(script);
    }

    /** Of the card, and of the whole page. */
    final void screenshots(String name) {
        card.locator(".figures").scrollIntoViewIfNeeded();
        card.screenshot(
                new Locator.ScreenshotOptions().setPath(SCREENSHOTS.resolve("pool-or-virtual-" + name + ".png")));
        page.screenshot(
                new Page.ScreenshotOptions().setFullPage(true).setPath(SCREENSHOTS.resolve("page-" + name + ".png")));
    }

    final String clipboard() {
        return (String) page.evaluate("navigator.clipboard.readText()");
    }
}
