package io.github.virtualthread.docs.compatibility;

import io.github.virtualthread.docs.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page lists what conditions ask for, and thereby what is decided when an application is built. */
class NativeImagePageTests {

    private static final Path SOURCES = Path.of("src/main/java/io/github/virtualthread/autoconfigure");

    @Test
    void everyPropertyOfAConditionIsOnThePage() throws IOException {
        Set<String> asked = new TreeSet<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(each -> each.toString().endsWith("AutoConfiguration.java"))
                    .toList()) {
                asked.addAll(keys("\"(virtual-thread\\.[a-z.-]+)\"", Files.readString(file)));
            }
        }

        Pages.assertRows(
                "docs/compatibility.md",
                Pattern.compile("^\\| `(virtual-thread\\.[a-z.-]+)`"),
                row -> "| `%s` | ... |".formatted(row.group(1)),
                asked.stream().map("| `%s` | ... |"::formatted).toList());
    }

    private static Set<String> keys(String pattern, String text) {
        Set<String> keys = new TreeSet<>();
        Pattern.compile(pattern).matcher(text).results().forEach(found -> keys.add(found.group(1)));
        return keys;
    }
}
