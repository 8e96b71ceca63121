package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What belongs to one page is in a folder of its name, without hyphens. */
class PageFoldersTests {

    @Test
    void eachFolderHasTheNameOfAPage() throws IOException {
        List<String> pages = Pages.all().stream()
                .map(page -> page.getFileName().toString().replace(".md", "").replace("-", ""))
                .toList();
        try (Stream<Path> files = Files.list(Pages.SOURCES)) {
            assertThat(files.filter(Files::isDirectory)
                            .map(folder -> folder.getFileName().toString()))
                    .isNotEmpty()
                    .isSubsetOf(pages);
        }
    }
}
