package io.github.virtualthread.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

/** The page, opened anew for each test; its console has to stay empty. */
abstract class InBrowser {

    static final Path SCREENSHOTS = Path.of("target/lab/screenshots");

    private static Chromium chromium;
    static Page page;

    /** What the console tells, until it is cleared. */
    static final List<String> errors = new ArrayList<>();

    @Autowired
    Lab lab;

    @LocalServerPort
    int port;

    /** The one of the experiment that is tested; the first one's to begin with. */
    Locator card;

    @BeforeAll
    static void launch() {
        chromium = Chromium.launch();
        page = chromium.browser().newPage();
        page.setDefaultTimeout(15_000);
        PlaywrightAssertions.setDefaultAssertionTimeout(10_000);
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning")) {
                errors.add(message.text());
            }
        });
        page.onPageError(errors::add);
    }

    @AfterAll
    static void close() {
        chromium.close();
    }

    @BeforeEach
    void openPage() {
        page.setViewportSize(1280, 900);
        page.emulateMedia(new Page.EmulateMediaOptions()
                .setColorScheme(ColorScheme.LIGHT)
                .setReducedMotion(ReducedMotion.REDUCE));
        open();
        // what an earlier test has guessed
        page.evaluate("localStorage.clear()");
        errors.clear();
    }

    @AfterEach
    void end() {
        page.unrouteAll();
        lab.running().ifPresent(run -> {
            run.cancel();
            assertThat(run.answer().handle((answer, failure) -> true)).succeedsWithin(10, TimeUnit.SECONDS);
        });
        assertThat(errors).as("errors and warnings in the console").isEmpty();
    }

    final void open() {
        page.navigate("http://localhost:" + port + "/");
        card = page.locator("#pool-or-virtual");
        card.waitFor();
    }

    final void fill(Map<String, String> values) {
        values.forEach((name, value) -> card.locator("input[name=" + name + "]").fill(value));
    }

    final void run() {
        card.locator(".run").click();
    }

    final void waitForAnswer() {
        waitForAnswer(15_000);
    }

    final void waitForAnswer(int millis) {
        card.locator(".result.answered").waitFor(new Locator.WaitForOptions().setTimeout(millis));
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
}
