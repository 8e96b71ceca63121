package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.github.virtualthread.limit.TaskLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

/** The page by the keyboard, on a narrow screen, and for those who do not see it. */
@BrowserTest
class LabKeyboardTests extends InBrowser {

    @Autowired
    private TaskLimits limits;

    @Test
    void aLimitIsResizedByTheArrowKeysWhileItRuns() {
        Locator slider = resizable(Map.of("rate", "200", "millis", "200", "first", "5"));
        assertThat(card.locator(".resize output")).hasText("5 permits");

        slider.focus();
        for (int i = 0; i < 3; i++) {
            page.keyboard().press("ArrowRight");
        }

        assertThat(card.locator(".resize output")).hasText("8 permits");
        assertThat(page.locator(".limits"))
                .containsText(Pattern.compile("lab\\s*8 of 8 in use\\s*[1-9]\\d* waiting, oldest"));
        assertThat(limits.get("lab").permits()).isEqualTo(8);
        page.waitForFunction(
                "card => { const permits = Chart.getChart(card.querySelector('canvas')).data.datasets"
                        + ".find(line => line.label === 'permits').data.map(point => point.y);"
                        + " return permits.includes(5) && permits.includes(8); }",
                card.elementHandle()); // the panel may have told of them before a point is drawn
        page.screenshot(new Page.ScreenshotOptions().setPath(SCREENSHOTS.resolve("limit-while-it-runs.png")));
        card.locator(".cancel").click();
        assertThat(slider).isDisabled();
    }

    @Test
    void theKeyboardReachesEverythingInOrder() {
        List<String> visited = new ArrayList<>();
        page.keyboard().press("Tab");
        assertThat(page.locator(".skip")).isFocused();
        assertThat(page.locator(".skip")).isInViewport();
        for (int i = 0; i < 12; i++) {
            page.keyboard().press("Tab");
            visited.add(
                    (String) page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name"));
            assertThat(page.evaluate(Scripts.FOCUS_IS_VISIBLE))
                    .as("focus on %s", visited)
                    .isEqualTo(true);
        }
        assertThat(visited)
                .containsSubsequence("Start the tour", "Waiting is cheap", "guess", "tasks", "millis", "rounds", "Run");
    }

    @Test
    void anExperimentRunsByTheKeyboardAlone() {
        card.locator("input[name=guess]").first().focus();
        page.keyboard().press("Space");
        for (String value : List.of("20", "100", "3")) {
            page.keyboard().press("Tab");
            page.keyboard().press("Control+A");
            page.keyboard().type(value);
        }
        Runnable release = hold(EVENTS);
        page.keyboard().press("Tab");
        page.keyboard().press("Enter");

        assertThat(card.locator(".cancel")).isFocused();
        release.run();
        waitForAnswer();
        assertThat(card.locator(".run")).isFocused();
        assertThat(card.locator(".repeat code"))
                .hasText("mvn spring-boot:run -Dspring-boot.run.arguments="
                        + "\"--lab=pool-or-virtual --lab.tasks=20 --lab.millis=100 --lab.rounds=3\"");
        open();
        assertThat(card.locator("input[name=guess]").first()).isChecked();
    }

    @Test
    void whoDoesNotSeeThePageIsToldWhatItHas() {
        assertThat(page.locator("h1").count()).isOne();
        assertThat(texts(Scripts.SKIPPED_HEADINGS)).isEmpty();
        assertThat(texts(Scripts.UNNAMED)).isEmpty();
        assertThat(texts(Scripts.TWICE_THE_SAME_ID)).isEmpty();
        assertThat(texts("['main', 'header', 'footer', 'aside'].filter(each => !document.querySelector(each))"))
                .isEmpty();
        assertThat(texts(Scripts.LOW_CONTRAST)).isEmpty();
    }

    @Test
    void aNarrowScreenNeedsNoScrollingSideways() {
        page.setViewportSize(360, 740);
        fill(SHORT);
        run();
        waitForAnswer();

        assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(360);
        screenshots("narrow");
    }
}
