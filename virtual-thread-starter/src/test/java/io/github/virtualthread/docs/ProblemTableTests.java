package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** From a problem in the index two links lead at most to what is said of its property, and the table is on one screen. */
class ProblemTableTests {

    private static final Path INDEX = Pages.ROOT.resolve("docs/README.md");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern PROPERTY = Pattern.compile("`([a-z.-]+)");

    static List<String> rows() {
        List<String> rows = Pages.lines(INDEX).stream()
                .dropWhile(line -> !line.equals("## Which property?"))
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .takeWhile(line -> line.startsWith("|"))
                .toList();
        assertThat(rows).hasSizeBetween(6, 20);
        return rows;
    }

    @ParameterizedTest
    @MethodSource("rows")
    void twoLinksLeadToTheAnswer(String row) {
        List<Part> near = linked(new Part(INDEX, row));
        List<Part> far = near.stream().flatMap(part -> linked(part).stream()).toList();

        assertThat(near).as(row).isNotEmpty();
        assertThat(PROPERTY.matcher(row).results().map(property -> property.group(1)))
                .isNotEmpty()
                .allSatisfy(property -> {
                    Pattern said = Pattern.compile("(?<![a-z-])" + Pattern.quote(last(property)) + "(?![a-z-])");
                    assertThat(near.stream().anyMatch(part -> part.has(said))
                                    || far.stream().anyMatch(part -> part.has(said)))
                            .as("%s is two links away in %s", property, row)
                            .isTrue();
                });
    }

    /** In a block of YAML a key stands without those above it. */
    private static String last(String property) {
        return property.substring(property.lastIndexOf('.') + 1);
    }

    private static List<Part> linked(Part part) {
        List<Part> linked = new ArrayList<>();
        for (MatchResult link : LINK.matcher(part.text()).results().toList()) {
            String[] target = link.group(1).split("#");
            Path page = target[0].isEmpty()
                    ? part.page()
                    : part.page().resolveSibling(target[0]).normalize();
            if (!target[0].contains(":") && page.toString().endsWith(".md")) {
                linked.add(new Part(
                        page, target.length > 1 ? section(page, target[1]) : String.join("\n", Pages.lines(page))));
            }
        }
        return linked;
    }

    /** From the heading to the next one of its level or above. */
    private static String section(Path page, String anchor) {
        List<String> lines = Pages.lines(page);
        List<String> headings =
                Pages.prose(page).stream().filter(line -> line.startsWith("#")).toList();
        String heading = headings.get(Pages.anchors(page).indexOf(anchor));
        String above = heading.replaceFirst(" .*", "");
        List<String> section = new ArrayList<>(List.of(heading));
        lines.stream()
                .dropWhile(line -> !line.equals(heading))
                .skip(1)
                .takeWhile(line ->
                        !headings.contains(line) || line.replaceFirst(" .*", "").length() > above.length())
                .forEach(section::add);
        return String.join("\n", section);
    }

    private record Part(Path page, String text) {

        private boolean has(Pattern said) {
            return said.matcher(text).find();
        }
    }
}
