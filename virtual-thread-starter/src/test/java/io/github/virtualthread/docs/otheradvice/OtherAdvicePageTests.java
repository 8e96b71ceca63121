package io.github.virtualthread.docs.otheradvice;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.docs.Pages;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page says what the application of its tests is built with. */
class OtherAdvicePageTests {

    private static final String APPLICATION = "virtual-thread-starter/src/it/advice/";
    private static final String PAGE = Pages.text("docs/other-advice.md");

    @Test
    void theVersionsAreThoseOfTheApplication() {
        String pom = Pages.text(APPLICATION + "pom.xml");

        assertThat(PAGE)
                .contains("resilience4j " + found("starter\\.resilience4j}</artifactId>\\s*<version>(.+)<", pom))
                .contains("ShedLock " + found("shedlock-spring</artifactId>\\s*<version>(.+)<", pom))
                .contains("spring-retry " + found("spring-retry</artifactId>\\s*<version>(.+)<", pom));
    }

    @Test
    void theLinesOfSpringBootAreThoseItRunsOn() {
        String lines = Pattern.compile("-Dspring-boot\\.version=(\\d+\\.\\d+)")
                .matcher(Pages.invocations(APPLICATION))
                .results()
                .map(line -> line.group(1))
                .reduce((line, next) -> line + " and " + next)
                .orElseThrow();

        assertThat(PAGE).contains("on Spring Boot " + lines + ".");
    }

    private static String found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .findFirst()
                .orElseThrow();
    }
}
