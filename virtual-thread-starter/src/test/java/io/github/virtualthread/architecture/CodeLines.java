package io.github.virtualthread.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Lines of the source of a type and of the types in it, without blanks, comments and imports. */
final class CodeLines extends ArchCondition<JavaClass> {

    private final int most;

    CodeLines(int most) {
        super("have at most %d code lines", most);
        this.most = most;
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        int lines = of(source(type));
        if (lines > most) {
            events.add(
                    SimpleConditionEvent.violated(type, "%s has %d code lines".formatted(type.getFullName(), lines)));
        }
    }

    static List<String> source(JavaClass type) {
        String file = type.getName().replace('.', '/') + ".java";
        Path source = Stream.of("src/main/java", "src/test/java")
                .map(folder -> Path.of(folder, file))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No source of " + type.getName()));
        try {
            return Files.readAllLines(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int of(List<String> lines) {
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
}
