package io.github.virtualthread.sample.lab;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The code of an experiment as it is compiled, for the page: what lies between two comments {@code // shown}. */
public final class Source {

    private static final String MARK = "// shown";

    private Source() {}

    /** The marked part of the source of a class, which the build puts beside it. */
    public static String of(Class<?> type) {
        String path = "/lab-source/" + type.getName().replace('.', '/') + ".java";
        try (InputStream stream = type.getResourceAsStream(path)) {
            if (stream == null) {
                throw new IllegalStateException("The source of %s is not among the resources".formatted(type));
            }
            return marked(new String(stream.readAllBytes(), StandardCharsets.UTF_8), type);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String marked(String source, Class<?> type) {
        int from = source.indexOf(MARK);
        int to = source.indexOf(MARK, from + 1);
        if (from < 0 || to < 0) {
            throw new IllegalStateException("The source of %s needs two comments '%s'".formatted(type, MARK));
        }
        String shown = source.substring(source.indexOf('\n', from) + 1, source.lastIndexOf('\n', to) + 1);
        // first the end: an empty last line would count as one without indentation
        return shown.stripTrailing().stripIndent();
    }
}
