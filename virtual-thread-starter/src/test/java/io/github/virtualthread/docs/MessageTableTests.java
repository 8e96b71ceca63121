package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Who pastes a message of the log into the table of the index finds it: the sources have each text that the table quotes. */
class MessageTableTests {

    private static final Path INDEX = Pages.ROOT.resolve("docs/README.md");
    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
    private static final Pattern JOINED = Pattern.compile("\"\\s*\\+\\s*\"");
    private static final Pattern VALUE = Pattern.compile(".*['\"(\\d-].*|[^a-z]+");
    private static final String OPEN = "(?:%[\\d$,]*[sd]|\\{})"; // as the sources leave a value open

    private static String sources;

    @BeforeAll
    static void readTheSources() throws IOException {
        try (Stream<Path> files = Files.walk(Pages.ROOT.resolve("virtual-thread-starter/src/main/java"))) {
            sources = files.filter(file -> file.toString().endsWith(".java"))
                    .map(MessageTableTests::withoutComments)
                    .collect(Collectors.joining("\n"));
        }
    }

    /** With each text in one piece. */
    private static String withoutComments(Path source) {
        try (Stream<String> lines = Files.lines(source)) {
            return JOINED.matcher(lines.filter(line -> !line.strip().matches("(/?\\*|//).*"))
                            .collect(Collectors.joining("\n")))
                    .replaceAll("");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void theSourcesHaveEachTextThatTheTableQuotes() {
        List<String> lines = Pages.lines(INDEX);
        List<String> quoted = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (int i = lines.indexOf("## At three in the morning") + 4;
                lines.get(i).startsWith("|");
                i++) {
            String where = "docs/README.md:" + (i + 1);
            QUOTED.matcher(lines.get(i).split("\\|")[1])
                    .results()
                    .map(text -> text.group(1))
                    .peek(quoted::add)
                    .filter(text -> !isInTheSources(text))
                    .forEach(text -> wrong.add("%s: no message of the main sources has `%s`".formatted(where, text)));
        }

        assertThat(quoted).hasSizeGreaterThan(20);
        assertThat(wrong).isEmpty();
    }

    @Test
    void aTextThatNoMessageHasIsNoticed() {
        assertThat(isInTheSources("What lends permits to all replicas")).isFalse();
        assertThat(isInTheSources("was refused (QUEUE_FULL)")).isFalse();
        assertThat(isInTheSources("Limit 'db' was full for 30 s")).isFalse();
    }

    /** A word with a sign or a number, or without small letters, may be a value. */
    private static boolean isInTheSources(String text) {
        String words = Stream.of(text.split(" "))
                .map(word -> VALUE.matcher(word).matches()
                        ? "(?:" + Pattern.quote(word) + "|\\S*" + OPEN + "\\S*?) ?"
                        : Pattern.quote(word) + "(?: |\\b)")
                .collect(Collectors.joining(OPEN + "?"));
        return Pattern.compile(words).matcher(sources).find();
    }
}
