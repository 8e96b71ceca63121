package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the README calls tested is what the build tests. */
class CompatibilityTests {

    private static final String README = Pages.text("README.md");
    private static final String POM = Pages.text("pom.xml");

    @Test
    void everyLineOfSpringBootIsOneThatTheApplicationRunsOn() {
        String invocations = Pages.text("virtual-thread-starter/src/it/smoke/invoker.properties");

        List<String> run = all("(?m)^invoker\\.goals\\.\\d+ = test .*-Dspring-boot\\.version=(\\S+)", invocations);

        assertThat(all("(?m)^\\| Spring Boot [\\d.]+ \\| ([\\d.]+) \\| the jar in an application\\b", README))
                .hasSizeGreaterThan(1)
                .isEqualTo(run);
        assertThat(all("(?m)^\\| Spring Boot ([\\d.]+) \\|", README))
                .isEqualTo(run.stream()
                        .map(version -> version.replaceFirst("\\.\\d+$", ""))
                        .toList());
    }

    @Test
    void theStarterAndTheSampleAreBuiltWithTheVersionsOfTheirRows() {
        assertThat(all("\\| ([\\d.]+) \\|[^|]* all tests of the starter, which is compiled against it", README))
                .isEqualTo(all("<starter\\.spring-boot\\.version>(.+)</", POM))
                .hasSize(1);
        assertThat(all("\\| ([\\d.]+) \\|[^|]* the sample's tests", README))
                .isEqualTo(all("<sample\\.spring-boot\\.version>(.+)</", POM))
                .hasSize(1);
    }

    @Test
    void theWholeCheckRunsTheApplicationOnTheLowestJavaToo() {
        String lowest = all("<maven\\.compiler\\.release>(\\d+)</", POM).get(0);

        assertThat(README).contains("| Java | " + lowest + " or later |").contains("on Java " + lowest + " too |");
        assertThat(Pages.text(".ci/run")).contains("invoker:run ").contains("-Dit.java=" + lowest);
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}
