package io.github.virtualthread.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

/** The pages in the root, everything under docs/ and sample-app/docs/, and the page of the examples, as the tests read it. */
public final class Pages {

    public static final Path ROOT = root();

    /** What the pages show, and the tests of the pages. */
    static final Path SOURCES = ROOT.resolve("virtual-thread-starter/src/test/java/io/github/virtualthread/docs");

    private static final Pattern DIRECTIVE = Pattern.compile("<!-- (\\w+)(?:: (.+?))? -->");

    private Pages() {}

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("README.md")) ? here : here.getParent();
    }

    public static List<Path> all() {
        Stream<Path> single = Stream.of(
                        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "sample-app/examples/README.md")
                .map(ROOT::resolve);
        return Stream.of(single, under("docs"), under("sample-app/docs"))
                .flatMap(pages -> pages)
                .toList();
    }

    private static Stream<Path> under(String directory) {
        try (Stream<Path> files = Files.walk(ROOT.resolve(directory))) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public static String text(String page) {
        return String.join("\n", lines(ROOT.resolve(page)));
    }

    public static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** How an application in {@code src/it} is built and run: on Java 21, which has the oldest line, and on the JDK of the build. */
    public static String invocations(String application) {
        return text(application + "/invoker-java-21.properties") + "\n" + text(application + "/invoker.properties");
    }

    /** All fenced blocks of all pages. */
    public static Stream<Block> blocks(String language) {
        return all().stream().flatMap(page -> blocks(page).stream()).filter(block -> block.language()
                .equals(language));
    }

    /** The text of the block of a page below {@code <!-- directive: name -->}. */
    public static String block(String page, String directive, String name) {
        List<String> found = blocks(ROOT.resolve(page)).stream()
                .filter(block ->
                        block.directive().equals(directive) && block.argument().equals(name))
                .map(Block::text)
                .toList();
        assertThat(found)
                .as("%s: blocks <!-- %s: %s -->", page, directive, name)
                .hasSize(1);
        return found.getFirst();
    }

    /** What YAML sets, as a source of this name: another one of the same name would replace it. */
    public static PropertySource<?> properties(String name, String yaml) {
        try {
            return new YamlPropertySourceLoader()
                    .load(name, new ByteArrayResource(yaml.getBytes(UTF_8)))
                    .getFirst();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public static List<Block> blocks(Path page) {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = lines(page);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).strip().startsWith("```")) {
                int begin = i++;
                while (!lines.get(i).strip().equals("```")) {
                    i++;
                }
                Matcher directive =
                        DIRECTIVE.matcher(begin == 0 ? "" : lines.get(begin - 1).strip());
                boolean found = directive.matches();
                blocks.add(new Block(
                        ROOT.relativize(page) + ":" + (begin + 1),
                        lines.get(begin).strip().substring(3),
                        found ? directive.group(1) : "",
                        found && directive.group(2) != null ? directive.group(2) : "",
                        String.join("\n", lines.subList(begin + 1, i))));
            }
        }
        return blocks;
    }

    /** The lines of a page that are not in fenced blocks. */
    public static List<String> prose(Path page) {
        List<String> prose = new ArrayList<>();
        boolean inBlock = false;
        for (String line : lines(page)) {
            boolean fence = line.strip().startsWith("```");
            if (!inBlock && !fence) {
                prose.add(line);
            }
            inBlock ^= fence;
        }
        return prose;
    }

    /** Anchors of the headings of a page, made as GitHub makes them. */
    public static List<String> anchors(Path page) {
        return prose(page).stream()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("^#+\\s+", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
    }

    /** Page and line of a text. */
    public static String where(Path page, String text) {
        List<String> lines = lines(page);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(text)) {
                return "%s:%d: %s".formatted(ROOT.relativize(page), i + 1, text);
            }
        }
        return "%s: %s".formatted(ROOT.relativize(page), text);
    }

    /**
     * Compares a table with what it is about. A failure names each line that is wrong, and each line that is missing.
     *
     * @param row what finds the rows, one in each line
     * @param says what a row says, as a line of the table
     * @param lines what the rows have to say
     */
    public static void assertRows(
            String page, Pattern row, Function<MatchResult, String> says, Collection<String> lines) {
        List<String> said = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        List<String> text = lines(ROOT.resolve(page));
        for (int i = 0; i < text.size(); i++) {
            Matcher found = row.matcher(text.get(i));
            if (found.find()) {
                said.add(says.apply(found));
                if (!lines.contains(said.getLast())) {
                    wrong.add("%s:%d is wrong: %s".formatted(page, i + 1, said.getLast()));
                }
            }
        }
        lines.stream()
                .filter(line -> !said.contains(line))
                .forEach(line -> wrong.add("%s needs the line: %s".formatted(page, line)));
        assertThat(String.join("\n", wrong)).isEmpty();
        assertThat(said).as(page).isNotEmpty().doesNotHaveDuplicates();
    }

    public static String normalized(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    /**
     * A fenced block.
     *
     * @param where page and line
     * @param directive {@code example}, {@code excerpt} or {@code fragment}, from the comment in the line above
     * @param argument what stands behind the directive
     */
    public record Block(String where, String language, String directive, String argument, String text) {

        @Override
        public String toString() {
            return where;
        }
    }
}
