package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A test class tests one type or one promise: what has more lines than this tests several. */
class TestClassesTests {

    private static final int MOST_LINES = 400;

    private static final Pattern SOURCE = Pattern.compile("(?!.*/target/).*/src/.*\\.(java|kt)");
    private static final Pattern TEST = Pattern.compile("(?m)^ +@(Test|ParameterizedTest|RepeatedTest)\\b");

    @Test
    void noneHasMoreThan400Lines() throws IOException {
        try (Stream<Path> files =
                Stream.of("virtual-thread-starter", "sample-app").flatMap(TestClassesTests::sources)) {
            List<Path> tests =
                    files.filter(file -> TEST.matcher(read(file)).find()).toList();

            assertThat(tests).hasSizeGreaterThan(200).allSatisfy(file -> assertThat(lines(file))
                    .as("lines of %s: divide it by type or by promise", Pages.ROOT.relativize(file))
                    .isLessThanOrEqualTo(MOST_LINES));
        }
    }

    private static Stream<Path> sources(String module) {
        try {
            return Files.walk(Pages.ROOT.resolve(module))
                    .filter(file -> SOURCE.matcher(file.toString()).matches());
        } catch (IOException failure) {
            throw new AssertionError(module, failure);
        }
    }

    private static long lines(Path file) {
        return read(file).lines().count();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new AssertionError(file.toString(), failure);
        }
    }
}
