package io.github.virtualthread.migration;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.java.tree.J;

/** What the recipe knows of a project before it changes anything. */
final class AsyncProject {

    private static final String RESOURCES = "src/main/resources/";
    private static final Pattern SOURCE = Pattern.compile("(.*?)src/main/java/.*");
    private static final Pattern RESOURCE = Pattern.compile("(.*?)src/(main|test)/resources/(.*)");

    /** By directory: empty, or with a slash at the end. */
    private final Map<String, BuildModule> modules = new TreeMap<>();

    static boolean isMain(SourceFile file) {
        return SOURCE.matcher(path(file)).matches();
    }

    private static String path(SourceFile file) {
        return file.getSourcePath().toString().replace('\\', '/');
    }

    void read(SourceFile file, ExecutionContext context) {
        Matcher source = SOURCE.matcher(path(file));
        if (file instanceof J.CompilationUnit code && source.matches()) {
            BuildModule module = module(source.group(1));
            AsyncAnnotations annotations = new AsyncAnnotations(Verdict::moves);
            annotations.visit(code, context);
            module.annotated.addAll(annotations.replaced());
            module.beans.visit(code, context);
        }
        Matcher resource = RESOURCE.matcher(path(file));
        if (resource.matches()) {
            BuildModule module = module(resource.group(1));
            Settings settings = resource.group(2).equals("main") ? module.settings : module.settingsOfTests;
            settings.read(resource.group(3), file);
        }
    }

    private BuildModule module(String directory) {
        return modules.computeIfAbsent(directory, unknown -> new BuildModule());
    }

    /** What becomes of an annotation with the name of an executor; empty for one without a name. */
    Verdict verdict(SourceFile file, String name) {
        Matcher source = SOURCE.matcher(path(file));
        return source.matches() ? verdict(module(source.group(1)), name) : Verdict.stays("");
    }

    private Verdict verdict(BuildModule module, String name) {
        Set<Verdict> verdicts = modules.values().stream()
                .filter(each -> each.isApplication() && (each == module || !module.isApplication()))
                .map(each -> application(each).verdict(name))
                .collect(Collectors.toSet());
        return verdicts.size() == 1
                ? verdicts.iterator().next()
                : Verdict.stays((verdicts.isEmpty()
                                ? "no application of this build uses it. "
                                : "the applications that may use it have different executors. ")
                        + AsyncAnnotations.SET_A_LIMIT);
    }

    /** With modules that any application may use. */
    private Application application(BuildModule module) {
        if (module.application == null) {
            SpringBeans beans = new SpringBeans();
            modules.values().stream()
                    .filter(each -> each == module || !each.isApplication())
                    .forEach(each -> beans.addAll(each.beans));
            module.application = new Application(beans, module.settings);
        }
        return module.application;
    }

    /** The names of those annotations that an application can call, and that do not stay. */
    private Set<String> names(BuildModule application) {
        Set<String> names = new TreeSet<>();
        for (BuildModule module : modules.values()) {
            if (module == application || !module.isApplication()) {
                module.annotated.stream()
                        .filter(together -> together.stream()
                                .allMatch(name -> verdict(module, name).obstacle() == null))
                        .forEach(names::addAll);
            }
        }
        return names;
    }

    /** For applications that have none yet. */
    List<SourceFile> newSettings() {
        List<SourceFile> files = new ArrayList<>();
        modules.forEach((directory, module) -> {
            String file = module.settings.preferred();
            if (module.isApplication() && !module.settings.hasFile(file)) {
                Set<String> names = names(module);
                List<Limit> limits = application(module).limits(names, module.settings);
                if (!limits.isEmpty()) {
                    String defaultLimit = application(module).defaultLimit(names, module.settings);
                    files.add(SettingsFile.create(Path.of(directory + RESOURCES + file), defaultLimit, limits));
                }
            }
        });
        return files;
    }

    SourceFile withLimits(SourceFile file) {
        Matcher resource = RESOURCE.matcher(path(file));
        BuildModule module = resource.matches() ? modules.get(resource.group(1)) : null;
        if (module == null || !module.isApplication() || !resource.group(3).equals(module.settings.preferred())) {
            return file;
        }
        boolean isMain = resource.group(2).equals("main");
        if (isMain && !module.settings.hasFile(resource.group(3))) {
            return file; // new, and complete
        }
        Settings where = isMain ? module.settings : module.settings.hiddenBy(module.settingsOfTests);
        Set<String> names = names(module);
        Application application = application(module);
        return new SettingsFile(file).with(application.defaultLimit(names, where), application.limits(names, where));
    }

    private static final class BuildModule {

        /** Names in annotations that can be replaced, together those that have to be replaced together. */
        private final List<Set<String>> annotated = new ArrayList<>();

        private final SpringBeans beans = new SpringBeans();
        private final Settings settings = new Settings();
        private final Settings settingsOfTests = new Settings();
        private @Nullable Application application;

        boolean isApplication() {
            return beans.isApplication();
        }
    }
}
