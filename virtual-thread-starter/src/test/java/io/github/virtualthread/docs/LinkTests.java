package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A link leads somewhere, and every page can be found. */
class LinkTests {

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

    static List<Path> pages() {
        return Pages.all();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void relativeLinksLeadToFilesAndHeadings(Path page) {
        assertThat(links(page)).allSatisfy(link -> {
            int hash = link.indexOf('#');
            String file = hash < 0 ? link : link.substring(0, hash);
            Path target = file.isEmpty()
                    ? page
                    : page.resolveSibling(file).toAbsolutePath().normalize();

            assertThat(Files.exists(target)).as(Pages.where(page, link)).isTrue();
            if (hash >= 0) {
                assertThat(Pages.anchors(target).contains(link.substring(hash + 1)))
                        .as(Pages.where(page, link))
                        .isTrue();
            }
        });
    }

    @Test
    void theIndexListsEveryPage() {
        Path index = Pages.ROOT.resolve("docs/README.md");

        List<Path> listed = links(index)
                .map(link -> index.resolveSibling(link.split("#")[0]).normalize())
                .toList();

        assertThat(pages())
                .filteredOn(page -> !page.equals(index) && !page.equals(Pages.ROOT.resolve("README.md")))
                .allSatisfy(page -> assertThat(listed.contains(page))
                        .as(
                                "docs/README.md needs the line: | [...](%s) | ... |",
                                index.getParent().relativize(page))
                        .isTrue());
    }

    @Test
    void everyImageIsShownOnAPage() throws IOException {
        try (Stream<Path> images = Files.list(Pages.ROOT.resolve("sample-app/docs/images"))) {
            assertThat(pages().stream()
                            .flatMap(page -> links(page).map(page::resolveSibling))
                            .map(Path::normalize))
                    .containsAll(images.toList());
        }
    }

    @Test
    void theReadmeHasAtMost800Words() {
        assertThat(Pages.text("README.md").split("\\s+")).hasSizeLessThanOrEqualTo(800);
    }

    @Test
    void contributingFitsOnTwoScreens() {
        assertThat(Pages.lines(Pages.ROOT.resolve("docs/contributing.md")))
                .hasSizeLessThanOrEqualTo(90)
                .allMatch(line -> line.length() <= 140);
    }

    private static Stream<String> links(Path page) {
        Matcher links = LINK.matcher(String.join("\n", Pages.prose(page)));
        return links.results().map(link -> link.group(1)).filter(link -> !link.startsWith("http"));
    }
}
