package io.github.virtualthread.migration;

import io.github.virtualthread.migration.Amount.Value;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.SourceFile;

/** The settings of an application, or of its tests, in all files that Spring Boot reads from its class path. */
final class Settings {

    private static final Pattern FILE = Pattern.compile("(config/)?application(-.+)?\\.(properties|ya?ml)");

    /** As Spring Boot prefers them. */
    private static final List<String> FILES = Stream.of("config/application.", "application.")
            .flatMap(file -> Stream.of("properties", "yml", "yaml").map(file::concat))
            .toList();

    /** By path below the folder of resources. */
    private final Map<String, SettingsFile> files = new TreeMap<>();

    void read(String path, SourceFile file) {
        if (FILE.matcher(path).matches()) {
            files.put(path, new SettingsFile(file));
        }
    }

    /** What applies where these have files of their own, which hide others of the same path. */
    Settings hiddenBy(Settings others) {
        Settings visible = new Settings();
        visible.files.putAll(files);
        visible.files.putAll(others.files);
        return visible;
    }

    /** The file that gets the limits. */
    String preferred() {
        return FILES.stream().filter(files::containsKey).findFirst().orElse("application.yml");
    }

    boolean hasFile(String path) {
        return files.containsKey(path);
    }

    /** A file that cannot be read, null if there is none. */
    @Nullable
    String unreadable() {
        return files.keySet().stream()
                .filter(path -> !files.get(path).isReadable())
                .findFirst()
                .orElse(null);
    }

    boolean has(String key) {
        return value(key) != null;
    }

    /** Without what is set for some profiles only. */
    @Nullable
    String value(String key) {
        return FILES.stream()
                .map(files::get)
                .filter(Objects::nonNull)
                .flatMap(file -> file.values(key).stream())
                .findFirst()
                .orElse(null);
    }

    Value value(String key, String otherwise) {
        String set = value(key);
        String value = set == null ? otherwise : set;
        Stream<String> ofProfiles = files.entrySet().stream()
                .flatMap(file -> FILES.contains(file.getKey())
                        ? file.getValue().conditionalValues(key).stream()
                        : file.getValue().allValues(key).stream());
        List<String> possible =
                Stream.concat(Stream.of(value), ofProfiles).distinct().toList();
        return new Value(possible.size() == 1 ? value : "${" + key + ":" + value + "}", possible);
    }
}
