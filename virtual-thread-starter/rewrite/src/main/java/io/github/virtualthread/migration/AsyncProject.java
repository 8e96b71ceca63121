package io.github.virtualthread.migration;

import io.github.virtualthread.migration.ExecutorPools.Pool;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.java.tree.J;

/** What the recipe knows of a project before it changes anything. */
final class AsyncProject {

    private static final String APPLICATION = "org.springframework.boot.autoconfigure.SpringBootApplication";
    private static final String RESOURCES = "src/main/resources/";
    private static final Pattern SOURCE = Pattern.compile("(.*?)src/main/java/.*");
    private static final Pattern SETTINGS = Pattern.compile("(.*?)" + RESOURCES + "application\\.(properties|ya?ml)");

    /** By directory: empty, or with a slash at the end. */
    private final Map<String, BuildModule> modules = new TreeMap<>();

    static boolean isMain(SourceFile file) {
        return SOURCE.matcher(path(file)).matches();
    }

    private static String path(SourceFile file) {
        return file.getSourcePath().toString().replace('\\', '/');
    }

    void read(SourceFile file, ExecutionContext context) {
        String path = path(file);
        Matcher source = SOURCE.matcher(path);
        if (file instanceof J.CompilationUnit code && source.matches()) {
            BuildModule module = module(source.group(1));
            AsyncAnnotations annotations = new AsyncAnnotations();
            annotations.visit(code, context);
            module.names.addAll(annotations.limits());
            new ExecutorPools(module.pools).visit(code, context);
            module.isApplication |= code.getClasses().stream()
                    .anyMatch(type -> AsyncAnnotations.find(type.getLeadingAnnotations(), APPLICATION) != null);
        }
        Matcher settings = SETTINGS.matcher(path);
        if (settings.matches()) {
            BuildModule module = module(settings.group(1));
            // Of several files the one that Spring Boot prefers.
            if (module.settings == null || path.endsWith("properties")) {
                module.settings = path;
            }
        }
    }

    private BuildModule module(String directory) {
        return modules.computeIfAbsent(directory, unknown -> new BuildModule());
    }

    /** For applications that have none yet. */
    List<SourceFile> newSettings() {
        List<SourceFile> files = new ArrayList<>();
        modules.forEach((directory, module) -> {
            Limits limits = limits(directory);
            if (module.isApplication && module.settings == null && !limits.isEmpty()) {
                files.add(SettingsFile.create(Path.of(directory + RESOURCES + "application.yml"), limits));
            }
        });
        return files;
    }

    SourceFile withLimits(SourceFile file) {
        Matcher settings = SETTINGS.matcher(path(file));
        if (!settings.matches() || !path(file).equals(module(settings.group(1)).settings)) {
            return file;
        }
        Limits limits = limits(settings.group(1));
        return limits.isEmpty() || !isTarget(module(settings.group(1))) ? file : new SettingsFile(file).with(limits);
    }

    /** Where nothing is known to be an application, all may be. */
    private boolean isTarget(BuildModule module) {
        return module.isApplication || modules.values().stream().noneMatch(each -> each.isApplication);
    }

    /** Of an application, and of modules that any application may use. */
    private Limits limits(String application) {
        Limits limits = new Limits();
        modules.forEach((directory, module) -> {
            if (!module.isApplication || directory.equals(application)) {
                limits.addAll(module.names, module.pools);
            }
        });
        return limits;
    }

    private static final class BuildModule {

        private final Set<String> names = new TreeSet<>();
        private final Map<String, Pool> pools = new HashMap<>();
        private @Nullable String settings;
        private boolean isApplication;
    }
}
