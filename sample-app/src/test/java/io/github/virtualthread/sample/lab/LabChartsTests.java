package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ReducedMotion;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Areas, marks and motion, in a real browser. */
@BrowserTest
class LabChartsTests extends InBrowser {

    @Test
    void whatBecameOfTheCallsIsStackedOnTheSameScalesWithItsLatencyBelow() {
        card = page.locator("#scarce-resource");
        fill(Map.of(
                "users", "100", "connections", "10", "millis", "100", "timeout", "250", "wait", "150", "rounds", "1"));
        run();
        waitForAnswer();

        int contenders = card.locator(".table tbody tr").count();
        assertThat(charts("chart.options.scales.y.stacked ? [chart.scales.x.max, chart.scales.y.max].join() : ''"))
                .filteredOn(scales -> !scales.equals(""))
                .hasSize(contenders)
                .containsOnly(charts("[chart.scales.x.max, chart.scales.y.max].join()")
                        .getLast());
        // all 100 end in some way
        assertThat(
                        charts(
                                "chart.options.scales.y.stacked ? chart.data.datasets.reduce((sum, line) => sum + line.data.at(-1).y, 0)  : 100"))
                .allMatch(Integer.valueOf(100)::equals);
        Locator unlimited = figure("virtual threads, no limit");
        assertThat(unlimited.locator(".legend li")).containsText(new String[] {"done", "rejected (none)", "failed"});
        assertThat(unlimited.locator(".spreads li"))
                .containsText(
                        new Pattern[] {Pattern.compile("done after \\d.+"), Pattern.compile("failed after \\d.+")});
        assertThat(unlimited.locator("canvas").evaluate(FILLED)).isEqualTo("[object CanvasPattern]");
    }

    private static final String FILLED =
            "canvas => Object.prototype.toString.call(Chart.getChart(canvas).data.datasets[0].backgroundColor)";

    @Test
    void theGapBetweenAnsweredAndDoneIsShadedAndTheLegendSaysSo() {
        card = page.locator("#exploding-pool");
        fill(Map.of("requests", "200", "users", "100", "partner", "200", "watch", "1", "rounds", "1"));
        run();
        waitForAnswer();

        Locator pool = figure("@Async, pool 50 and queue 100");
        assertThat(pool.locator(".legend li"))
                .containsText(new String[] {"answered", "really done", "answered, but not really done"});
        Object target = pool.locator("canvas")
                .evaluate(
                        "canvas => Chart.getChart(canvas).data.datasets[Chart.getChart(canvas).data.datasets[0].fill.target].label");
        assertThat(target).isEqualTo("really done");
    }

    @Test
    void aChangeOfTheLimitIsMarked() {
        card = page.locator("#limit-while-it-runs");
        fill(Map.of("rate", "100", "millis", "50", "first", "5", "then", "20", "last", "6", "seconds", "1"));
        run();
        waitForAnswer();

        assertThat(marks("6")).hasCount(1);
    }

    @Test
    void aChangeByHandIsMarkedToo() {
        Locator slider = resizable(Map.of("rate", "100", "millis", "50", "first", "5"));
        assertThat(card.locator(".legend li").first()).hasText("permits"); // its first points are there
        slider.fill("9");

        assertThat(marks("9")).hasCount(1);
    }

    private Locator marks(String permits) {
        return card.locator(".marks li")
                .filter(new Locator.FilterOptions()
                        .setHasText(Pattern.compile("^At \\d(\\.\\d+)? seconds: " + permits + " permits$")));
    }

    @Test
    void whoWantsLessMotionSeesNone() {
        page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.REDUCE));
        assertThat(moves()).isEqualTo(List.of(false, false));

        fill(Map.of("tasks", "5", "millis", "10", "rounds", "1"));
        run();
        waitForAnswer();
        assertThat(charts("chart.options.animation")).hasSizeGreaterThan(1).containsOnly(false);
        assertThat(page.evaluate("document.getAnimations().length")).isEqualTo(0);
    }

    @Test
    void withoutThatWishBarsAndTheViewMove() {
        page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.NO_PREFERENCE));

        assertThat(moves()).isEqualTo(List.of(true, true));
    }

    /** Whether a bar of the panel takes its time to grow, and the page its time to scroll. */
    private Object moves() {
        return page.locator(".limits .fill").first().evaluate(MOVES); // as soon as there is one
    }

    private static final String MOVES = """
            bar => {
              bar.style.width = "0";
              bar.getBoundingClientRect();
              bar.style.width = "100%";
              bar.getBoundingClientRect();
              const grows = document.getAnimations().length > 0;
              scrollTo({ top: 0, behavior: "instant" });
              document.getElementById("calculator").scrollIntoView();
              return [grows, scrollY === 0];
            }""";

    private Locator figure(String title) {
        return card.locator("figure")
                .filter(new Locator.FilterOptions()
                        .setHas(page.locator("figcaption", new Page.LocatorOptions().setHasText(title))))
                .first();
    }
}
