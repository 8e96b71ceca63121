package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that wait say for how long. By itself Awaitility waits for ten seconds, which a busy machine may need. */
class WaitsTests {

    private static final List<String> SOURCES = List.of("src/test", "src/it", "../sample-app/src/test");

    private static final Pattern WAIT = Pattern.compile("await\\(\\)\\s*\\.[^;]*?(until|forever)");

    @Test
    void eachHasABoundOfItsOwn() throws IOException {
        for (String sources : SOURCES) {
            try (Stream<Path> files = Files.walk(Path.of(sources))) {
                assertThat(files.filter(file -> file.toString().matches(".*\\.(java|kt)"))
                                .flatMap(WaitsTests::waits))
                        .as(sources)
                        .isNotEmpty()
                        .allMatch(wait -> wait.contains(".atMost("));
            }
        }
    }

    private static Stream<String> waits(Path file) {
        try {
            return WAIT.matcher(Files.readString(file)).results().map(MatchResult::group);
        } catch (IOException e) {
            throw new AssertionError(file.toString(), e);
        }
    }
}
