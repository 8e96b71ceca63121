package io.github.virtualthread.migration;

import io.github.virtualthread.migration.ExecutorPools.Pool;
import io.github.virtualthread.migration.Limits.Limit;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
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
 * The file {@code application.yml} or {@code application.properties} of an application. What it gets is appended to its first
 * document, and what it has stays as it is.
 */
final class SettingsFile {

    private static final Pattern NEXT_DOCUMENT = Pattern.compile("(?m)^[#!]?---[ \\t]*\\r?$");
    private static final String PREFIX = "virtual-thread.";

    private final SourceFile file;

    SettingsFile(SourceFile file) {
        this.file = file;
    }

    static SourceFile create(Path path, Limits limits) {
        String text = nested(limits.defaultName(), limits.all(true, Pool.UNKNOWN));
        return parsed(new YamlParser().parse(text)).withSourcePath(path);
    }

    private static SourceFile parsed(Stream<SourceFile> files) {
        return files.findFirst().orElseThrow();
    }

    /** The numbers of Spring Boot's own pool, as far as they are set. */
    private Pool pool() {
        String pool = "spring.task.execution.pool.";
        return new Pool(value(pool + "core-size"), value(pool + "max-size"), value(pool + "queue-capacity"), true);
    }

    private @Nullable String value(String key) {
        return values(key).stream().findFirst().orElse(null);
    }

    private boolean has(String key) {
        return !values(key).isEmpty();
    }

    /** Values of the keys that match it, in any spelling; of a YAML file those of the first document. */
    private List<String> values(String key) {
        if (file instanceof Yaml.Documents yaml) {
            return FindProperty.find(yaml.getDocuments().get(0), key, true).stream()
                    .map(value -> value instanceof Yaml.Scalar scalar ? scalar.getValue() : "")
                    .toList();
        }
        if (file instanceof Properties.File properties) {
            Set<Properties.Entry> found = FindProperties.find(properties, key, true);
            return properties.getContent().stream()
                    .filter(found::contains)
                    .map(entry -> ((Properties.Entry) entry).getValue().getText())
                    .toList();
        }
        return List.of();
    }

    /** Of limits that are set already, nothing is added. */
    SourceFile with(Limits limits) {
        boolean ownDefault = has(PREFIX + "default-limit");
        String defaultLimit = ownDefault ? null : limits.defaultName();
        List<Limit> added = limits.all(!ownDefault, pool()).stream()
                .filter(limit -> !has(PREFIX + "limits." + limit.name() + ".*"))
                .toList();
        if (added.isEmpty() && defaultLimit == null) {
            return file;
        }
        if (file instanceof Yaml.Documents documents) {
            boolean hasOwn = added.isEmpty() || has("virtual-thread");
            String block = hasOwn ? flat(defaultLimit, added, ": ") : nested(defaultLimit, added);
            SourceFile result = parsed(new YamlParser().parse(withBlock(block)));
            return result instanceof Yaml.Documents more ? documents.withDocuments(more.getDocuments()) : file;
        }
        if (file instanceof Properties.File properties) {
            String block = flat(defaultLimit, added, "=");
            SourceFile result = parsed(new PropertiesParser().parse(withBlock(block)));
            return result instanceof Properties.File more
                    ? properties.withContent(more.getContent()).withEof(more.getEof())
                    : file;
        }
        return file;
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

    private String withBlock(String block) {
        String text = file.printAll();
        int end = endOfFirstDocument(text);
        String first = text.substring(0, end).stripTrailing();
        String joined = first.isEmpty() ? block : first + "\n\n" + block;
        return text.contains("\r\n")
                ? joined.replaceAll("\\r?\\n", "\r\n") + text.substring(end)
                : joined + text.substring(end);
    }

    private static int endOfFirstDocument(String text) {
        Matcher next = NEXT_DOCUMENT.matcher(text);
        while (next.find()) {
            String before = text.substring(0, next.start());
            if (before.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#") && !line.startsWith("---"))) {
                return next.start();
            }
        }
        return text.length();
    }
}
