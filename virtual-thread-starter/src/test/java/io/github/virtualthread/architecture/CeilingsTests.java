package io.github.virtualthread.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.StringTokenizer;
import org.junit.jupiter.api.Test;

/**
 * What must not grow: no change raises a ceiling, and one that goes more than a hundredth below lowers it. The ceiling of the jar,
 * in bytes, is in the pom.
 */
class CeilingsTests {

    private static final int CODE_LINES = 18_187;
    private static final int LONG_TYPES = 5;
    private static final int WORDS_OF_PAGES = 49_475;

    /** Lines of code that a type has without being long. */
    private static final int LONG = 250;

    @Test
    void codeLinesOfTheStarter() throws IOException {
        int lines = 0;
        for (Path source : files(Path.of("src/main/java"), ".java")) {
            lines += codeLines(Files.readAllLines(source));
        }

        assertThat(lines).isBetween(CODE_LINES - CODE_LINES / 100, CODE_LINES);
    }

    @Test
    void typesOfTheStarterWithMoreThan250Lines() throws IOException {
        List<String> types = new ArrayList<>();
        for (Path source : files(Path.of("src/main/java"), ".java")) {
            if (codeLines(Files.readAllLines(source)) > LONG) {
                types.add(source.getFileName().toString());
            }
        }

        assertThat(types).hasSize(LONG_TYPES);
    }

    @Test
    void wordsOfThePages() throws IOException {
        int words = 0;
        for (Path page : files(Path.of(".."), ".md")) {
            words += new StringTokenizer(Files.readString(page)).countTokens();
        }

        assertThat(words).isBetween(WORDS_OF_PAGES - WORDS_OF_PAGES / 100, WORDS_OF_PAGES);
    }

    @Test
    void blanksCommentsImportsAndPackagesAreNotCode() {
        assertThat(codeLines("""
                        package a;

                        import b.C;

                        /** A comment
                            of two lines. */
                        class D { // one

                            // none
                            int e = 2
                                    * 3;
                        }
                        """.lines().toList())).isEqualTo(4);
    }

    private static int codeLines(List<String> lines) {
        int code = 0;
        boolean isComment = false;
        for (String line : lines) {
            String text = line.strip();
            isComment |= text.startsWith("/*");
            if (!isComment
                    && !text.isEmpty()
                    && !text.startsWith("//")
                    && !text.startsWith("import ")
                    && !text.startsWith("package ")) {
                code++;
            }
            isComment &= !text.endsWith("*/");
        }
        return code;
    }

    /** Not those that a build has made, and not those of tests. */
    private static List<Path> files(Path root, String suffix) throws IOException {
        Set<String> others = Set.of(".git", "target", "test", "it");
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return others.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(suffix)) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }
}
