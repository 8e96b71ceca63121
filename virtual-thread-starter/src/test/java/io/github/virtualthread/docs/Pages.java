package io.github.virtualthread.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages in the root, everything under docs/ and sample-app/docs/, and the page of the examples, as the tests read it. */
final class Pages {

    static final Path ROOT = root();

    private static final Pattern DIRECTIVE = Pattern.compile("<!-- (\\w+)(?:: (.+?))? -->");

    private Pages() {}

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("README.md")) ? here : here.getParent();
    }

    static List<Path> all() {
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

    static String text(String page) {
        return String.join("\n", lines(ROOT.resolve(page)));
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** All fenced blocks of all pages. */
    static Stream<Block> blocks(String language) {
        return all().stream().flatMap(page -> blocks(page).stream()).filter(block -> block.language()
                .equals(language));
    }

    static List<Block> blocks(Path page) {
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
    static List<String> prose(Path page) {
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
    static List<String> anchors(Path page) {
        return prose(page).stream()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("^#+\\s+", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .toList();
    }

    static String normalized(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    /**
     * A fenced block.
     *
     * @param where page and line
     * @param directive {@code example}, {@code excerpt} or {@code fragment}, from the comment in the line above
     * @param argument what stands behind the directive
     */
    record Block(String where, String language, String directive, String argument, String text) {

        @Override
        public String toString() {
            return where;
        }
    }
}
