package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

/** The calculator of the page, in a real browser. */
@BrowserTest
class LabCalculatorTests extends InBrowser {

    /** 100 calls per second of 0.2 s keep 25 permits busy by 80 %; three replicas may have 22 each of 66 connections. */
    @ParameterizedTest
    @CsvSource({
        "100, 0.2, 80, 2, 3, 100, 25, 250, PT2S",
        "100, 0.2, 80, 0.5, 3, 66, 22, 55, PT0.5S",
        "10, 0.2, 100, 0, 1, 9, ,,",
        "10, 0.2, 99, 0, 1, 9, 3, 0,"
    })
    void theCalculatorGivesYamlThatTheStarterTakes(
            String rate,
            String time,
            String busy,
            String wait,
            String replicas,
            String connections,
            Integer permits,
            Integer queue,
            Duration maxWait)
            throws IOException {
        calculate(Map.of(
                "rate",
                rate,
                "time",
                time,
                "busy",
                busy,
                "wait",
                wait,
                "replicas",
                replicas,
                "connections",
                connections));
        if (permits == null) {
            assertThat(page.locator("#limit-yaml")).isHidden();
            return;
        }
        page.context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
        page.locator("#limit-yaml .copy").click();
        assertThat(page.locator("#limit-yaml .copy")).hasText("Copied");

        PropertySource<?> yaml = new YamlPropertySourceLoader()
                .load("calculated", new ByteArrayResource(clipboard().getBytes(StandardCharsets.UTF_8)))
                .getFirst();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(yaml))
                .run(context -> {
                    TaskLimit limit = context.getBean(TaskLimits.class).get("db");
                    assertThat(limit.permits()).isEqualTo(permits);
                    assertThat(limit.queueCapacity()).isEqualTo(queue);
                    assertThat(limit.maxWait()).isEqualTo(maxWait);
                });
    }

    /** Expected waits by the tables of Erlang C: 0.209 of the calls wait at 25 permits and a load of 20. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    100 | 0.2 | 80 | 100 × 0.2 s / 80 % = 25 | 8.36 ms on average: 25 permits are busy 80 %
                    100 | 0.2 | 91 | 100 × 0.2 s / 91 % = 22 | 56.8 ms on average: 22 permits are busy 90.9 %
                    1   | 0.5 | 50 | 1 × 0.5 s / 50 % = 1    | 500 ms on average: 1 permit is busy 50 %
                    """)
    void theCalculatorShowsTheExpectedWait(String rate, String time, String busy, String permits, String expected) {
        calculate(Map.of("rate", rate, "time", time, "busy", busy, "replicas", "1", "connections", "100"));

        assertThat(page.locator("#permits")).hasText(permits);
        assertThat(page.locator("#expected")).hasText(expected);
    }

    /** Three replicas share 60 connections: 20 permits in each are busy all the time. */
    @Test
    void aQueueThatDoesNotDrainGetsNoYaml() {
        calculate(Map.of("rate", "100", "time", "0.2", "replicas", "3", "connections", "60"));

        assertThat(page.locator("#limit-yaml")).isHidden();
        assertThat(page.locator("#expected"))
                .hasText("The queue would never drain: 20 permits serve 100 calls per second");
    }

    private void calculate(Map<String, String> values) {
        values.forEach((id, value) -> page.locator("#" + id).fill(value));
    }

    @Test
    void withoutRateOrRoomThereIsNoYaml() {
        page.locator("#replicas").fill("200");
        assertThat(page.locator("#limit-yaml")).isHidden();
        page.locator("#replicas").fill("3");
        assertThat(page.locator("#limit-yaml")).isVisible();
        page.locator("#rate").fill("");
        assertThat(page.locator("#limit-yaml")).isHidden();
    }
}
