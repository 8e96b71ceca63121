package io.github.virtualthread.migration;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.SourceFile;
import org.openrewrite.properties.PropertiesParser;
import org.openrewrite.properties.search.FindProperties;
import org.openrewrite.properties.tree.Properties;
import org.openrewrite.yaml.YamlParser;
import org.openrewrite.yaml.search.FindProperty;
import org.openrewrite.yaml.tree.Yaml;

/**
 * A file such as {@code application.yml} or {@code application.properties}. What it gets is appended to its first document that
 * applies in every profile, and what it has stays as it is.
 */
final class SettingsFile {

    private static final String PREFIX = "virtual-thread.";

    private final SourceFile file;
    private final List<Document> documents = new ArrayList<>();

    SettingsFile(SourceFile file) {
        this.file = file;
        String text = isReadable() ? file.printAll() : "";
        Matcher next = Pattern.compile(isYaml() ? "(?m)^---(?=\\s|$)" : "(?m)^[#!]---[ \\t]*$")
                .matcher(text);
        int start = 0;
        while (next.find()) {
            documents.add(new Document(text.substring(start, next.start())));
            start = next.start();
        }
        documents.add(new Document(text.substring(start)));
    }

    private boolean isYaml() {
        return file instanceof Yaml.Documents;
    }

    boolean isReadable() {
        return isYaml() || file instanceof Properties.File;
    }

    static SourceFile create(Path path, @Nullable String defaultLimit, List<Limit> limits) {
        return yaml(nested(defaultLimit, limits)).withSourcePath(path);
    }

    private static Yaml.Documents yaml(String text) {
        return parsed(new YamlParser().parse(text), Yaml.Documents.class);
    }

    private static Properties.File properties(String text) {
        return parsed(new PropertiesParser().parse(text), Properties.File.class);
    }

    private static <T> T parsed(Stream<SourceFile> files, Class<T> type) {
        return files.map(type::cast).findFirst().orElseThrow();
    }

    /** Of a key, in any spelling, where every profile has it; the last one first, which wins. */
    List<String> values(String key) {
        return values(key, document -> !document.isConditional());
    }

    List<String> conditionalValues(String key) {
        return values(key, Document::isConditional);
    }

    List<String> allValues(String key) {
        return values(key, document -> true);
    }

    private List<String> values(String key, Predicate<Document> documents) {
        List<String> values = new ArrayList<>();
        this.documents.stream().filter(documents).forEach(document -> values.addAll(document.values(key)));
        Collections.reverse(values);
        return values;
    }

    SourceFile with(@Nullable String defaultLimit, List<Limit> limits) {
        if (limits.isEmpty() && defaultLimit == null) {
            return file;
        }
        Document target = documents.stream()
                .filter(document -> !document.isEmpty() && !document.isConditional())
                .findFirst()
                .orElse(null);
        boolean isFlat = !isYaml() || limits.isEmpty() || (target != null && target.has("virtual-thread"));
        String block = isFlat ? flat(defaultLimit, limits, isYaml() ? ": " : "=") : nested(defaultLimit, limits);
        StringBuilder text = new StringBuilder();
        for (Document document : documents) {
            text.append(document == target ? joined(document.text(), block) : document.text());
        }
        if (target == null) {
            String all = text.toString();
            boolean isEmpty = documents.stream().allMatch(Document::isEmpty);
            String separator = isYaml() ? "---\n" : "#---\n";
            text = new StringBuilder(isEmpty ? joined(all, block) : all.stripTrailing() + "\n" + separator + block);
        }
        return withText(
                text.indexOf("\r\n") < 0 ? text.toString() : text.toString().replaceAll("\\r?\\n", "\r\n"));
    }

    private SourceFile withText(String text) {
        if (file instanceof Yaml.Documents documents) {
            return documents.withDocuments(yaml(text).getDocuments());
        }
        if (file instanceof Properties.File properties) {
            Properties.File more = properties(text);
            return properties.withContent(more.getContent()).withEof(more.getEof());
        }
        return file;
    }

    private static String joined(String text, String block) {
        String before = text.stripTrailing();
        return before.isEmpty() ? block : before + "\n\n" + block;
    }

    private static String nested(@Nullable String defaultLimit, List<Limit> limits) {
        StringBuilder text = new StringBuilder("virtual-thread:\n");
        if (defaultLimit != null) {
            text.append("  default-limit: ").append(defaultLimit).append('\n');
        }
        text.append("  limits:\n");
        for (Limit limit : limits) {
            text.append("    ").append(limit.name()).append(":\n");
            text.append("      # ").append(limit.origin()).append('\n');
            text.append("      permits: ").append(limit.permits()).append('\n');
            if (limit.queue() != null) {
                text.append("      queue-capacity: ").append(limit.queue()).append('\n');
            }
        }
        return text.toString();
    }

    private static String flat(@Nullable String defaultLimit, List<Limit> limits, String sign) {
        StringBuilder text = new StringBuilder();
        if (defaultLimit != null) {
            text.append(PREFIX)
                    .append("default-limit")
                    .append(sign)
                    .append(defaultLimit)
                    .append('\n');
        }
        for (Limit limit : limits) {
            String key = PREFIX + "limits." + limit.name();
            text.append("# ").append(limit.origin()).append('\n');
            text.append(key)
                    .append(".permits")
                    .append(sign)
                    .append(limit.permits())
                    .append('\n');
            if (limit.queue() != null) {
                text.append(key)
                        .append(".queue-capacity")
                        .append(sign)
                        .append(limit.queue())
                        .append('\n');
            }
        }
        return text.toString();
    }

    /** A part of the file, with the line that separates it from the one before. */
    private final class Document {

        private final String text;
        private final @Nullable SourceFile tree;

        Document(String text) {
            this.text = text;
            boolean isEmpty = text.lines().allMatch(line -> line.isBlank() || line.matches("(#|!|---).*"));
            this.tree = isEmpty ? null : isYaml() ? yaml(text) : properties(text);
        }

        String text() {
            return text;
        }

        boolean isEmpty() {
            return tree == null;
        }

        boolean isConditional() {
            return has("spring.config.activate.*");
        }

        boolean has(String key) {
            return !values(key).isEmpty();
        }

        List<String> values(String key) {
            if (tree instanceof Yaml.Documents yaml) {
                return FindProperty.find(yaml, key, true).stream()
                        .map(value -> value instanceof Yaml.Scalar scalar ? scalar.getValue() : "")
                        .toList();
            }
            if (tree instanceof Properties.File properties) {
                Set<Properties.Entry> found = FindProperties.find(properties, key, true);
                return properties.getContent().stream()
                        .filter(found::contains)
                        .map(entry -> ((Properties.Entry) entry).getValue().getText())
                        .toList();
            }
            return List.of();
        }
    }
}
