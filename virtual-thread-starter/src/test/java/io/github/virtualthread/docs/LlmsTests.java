package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * llms.txt, which the site has for assistants, is made of the pages: what is needed for a configuration that works, and then all
 * pages. {@code -Dllms.write=true} writes it anew.
 */
class LlmsTests {

    private static final Path FILE = Pages.ROOT.resolve("docs/llms.txt");
    private static final String INDEX = "docs/README.md";
    private static final String REPOSITORY = "https://github.com/virtualthread/virtual-thread-starter/blob/main/";
    private static final Pattern ROW = Pattern.compile("\\| \\[([^]]+)]\\(([^)#]+\\.md)\\) \\| (.+) \\|");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    private final String site = site();
    private final Map<String, String> pages = index().collect(Collectors.toMap(
            row -> inRepository(INDEX, row.group(2)), row -> row.group(1), (one, same) -> one));

    @Test
    void isMadeOfThePages() throws IOException {
        String made = made();
        if (Boolean.getBoolean("llms.write")) {
            Files.writeString(FILE, made);
        }

        assertThat(FILE)
                .as("to write it: mvn test -Dtest=LlmsTests -Dllms.write=true")
                .hasContent(made);
    }

    private String made() {
        return """
                # Virtual Thread Starter

                > %s

                Below is what is needed to write a configuration that works. Then come all pages, as Markdown.

                %s
                ## Pages

                %s
                """.formatted(
                        Pages.lines(Pages.ROOT.resolve("README.md")).get(2),
                        Stream.of(
                                        part(INDEX, "## Which property?"),
                                        part("docs/getting-started.md", "## 1. Add the dependency"),
                                        part("docs/getting-started.md", "## 2. Annotate a method"),
                                        part("docs/getting-started.md", "## 3. Set the limit"),
                                        part("docs/getting-started.md", "## Where you can put the annotation"),
                                        part("docs/limits.md", "## Never wait for your own limit"),
                                        part("docs/production.md", "# In production in five minutes"),
                                        part("docs/rejections.md", "## The order of the bounds"),
                                        part("docs/properties.md", "# Properties"))
                                .collect(Collectors.joining("\n")),
                        index().map(row -> "- [%s](%s): %s"
                                        .formatted(
                                                row.group(1),
                                                target(inRepository(INDEX, row.group(2))),
                                                linked(INDEX, row.group(3))))
                                .collect(Collectors.joining("\n")));
    }

    /** From the heading to the next one of its level or above, without comments; a page is a section of the file. */
    private String part(String page, String heading) {
        List<String> lines = Pages.lines(Pages.ROOT.resolve(page));
        List<String> headings = Pages.prose(Pages.ROOT.resolve(page)).stream()
                .filter(line -> line.startsWith("#"))
                .toList();
        assertThat(headings).as(page).contains(heading);
        int level = level(heading);
        return lines.stream()
                        .dropWhile(line -> !line.equals(heading))
                        .skip(1)
                        .takeWhile(line -> !headings.contains(line) || level(line) > level)
                        .filter(line -> !line.startsWith("<!-- "))
                        .map(line -> headings.contains(line) ? "#".repeat(2 - level) + line : line)
                        .map(line -> linked(page, line))
                        .collect(Collectors.joining("\n", "## " + heading.replaceFirst("#+ (\\d\\. )?", "") + "\n", ""))
                        .strip()
                + "\n";
    }

    private static int level(String heading) {
        return heading.indexOf(' ');
    }

    private String linked(String page, String text) {
        return LINK.matcher(text).replaceAll(link -> {
            String[] parts = link.group(1).split("#", 2);
            boolean elsewhere = parts[0].contains(":");
            String anchor = parts.length > 1 ? "#" + parts[1] : "";
            return elsewhere
                    ? link.group()
                    : "](" + target(parts[0].isEmpty() ? page : inRepository(page, parts[0])) + anchor + ")";
        });
    }

    /** The page as Markdown on the site, where hooks.py has the same rule, or else the file in the repository. */
    private String target(String path) {
        if (path.equals("README.md")) {
            return site + "index.md";
        }
        if (path.equals(INDEX)) {
            return site + "documentation.md";
        }
        if (!pages.containsKey(path) && !path.matches("docs/[\\w-]+\\.(json|yml)")) {
            return REPOSITORY + path;
        }
        List<String> place = Arrays.stream(path.split("/"))
                .filter(part -> !part.equals("docs"))
                .toList();
        return site
                + (place.size() > 1
                        ? String.join("/", place)
                        : path.startsWith("docs/")
                                ? place.getFirst()
                                : place.getFirst().toLowerCase(Locale.ROOT));
    }

    private static String inRepository(String page, String link) {
        return Path.of(page).resolveSibling(link).normalize().toString().replace('\\', '/');
    }

    private static Stream<MatchResult> index() {
        return Pages.lines(Pages.ROOT.resolve(INDEX)).stream()
                .flatMap(line -> ROW.matcher(line).results());
    }

    private static String site() {
        return Pages.lines(Pages.ROOT.resolve(".github/site/mkdocs.yml")).stream()
                .filter(line -> line.startsWith("site_url: "))
                .map(line -> line.substring("site_url: ".length()))
                .findFirst()
                .orElseThrow();
    }
}
