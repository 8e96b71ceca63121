package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Checks that the overrides of the settings match annotated methods. */
final class OverrideChecks {

    private final AnnotatedMethods methods;
    private final MethodSettings settings;
    private final @Nullable ClassLoader classLoader;

    OverrideChecks(AnnotatedMethods methods, MethodSettings settings, @Nullable ClassLoader classLoader) {
        this.methods = methods;
        this.settings = settings;
        this.classLoader = classLoader;
    }

    /**
     * Checks all overrides.
     *
     * @param types classes of the beans that have annotated methods
     */
    List<Mistake> check(Collection<Class<?>> types) {
        List<AnnotatedMethod> annotated =
                types.stream().flatMap(type -> methods.in(type).stream()).toList();
        return new TreeMap<>(settings.overrides())
                .entrySet().stream()
                        .flatMap(each -> check(each.getKey(), each.getValue(), annotated, types))
                        .toList();
    }

    private Stream<Mistake> check(
            String name,
            MethodSettings.MethodOverride override,
            List<AnnotatedMethod> annotated,
            Collection<Class<?>> types) {
        List<AnnotatedMethod> meant = annotated.stream()
                .filter(method -> method.qualifiedName().equals(name))
                .toList();
        if (meant.isEmpty()) {
            return isElsewhere(name, types) ? Stream.of() : Stream.of(unknown(name, annotated));
        }
        boolean isOfNoUse = override.timeout() != null && meant.stream().allMatch(AnnotatedMethod::isLimited);
        return isOfNoUse
                ? Stream.of(new Mistake(
                        "%s.timeout is set, but a method with @Limited has no timeout"
                                .formatted(PropertyKeys.method(name)),
                        "Remove the key, or use @VirtualThread."))
                : Stream.of();
    }

    /** The bean may be in another context, belong to another profile, or be created later. */
    private boolean isElsewhere(String name, Collection<Class<?>> types) {
        int end = name.lastIndexOf('.');
        Class<?> type = end < 0 ? null : load(name.substring(0, end));
        return type != null
                && types.stream().noneMatch(type::isAssignableFrom)
                && methods.in(type).stream()
                        .anyMatch(method -> method.qualifiedName().equals(name));
    }

    private @Nullable Class<?> load(String name) {
        try {
            return ClassUtils.forName(name, classLoader);
        } catch (ClassNotFoundException | LinkageError missing) {
            return null;
        }
    }

    private static Mistake unknown(String name, List<AnnotatedMethod> annotated) {
        List<String> names =
                annotated.stream().map(AnnotatedMethod::qualifiedName).toList();
        return new Mistake(
                "%s matches no annotated method".formatted(PropertyKeys.method(name)),
                Spelling.nearest(name, names)
                        .map("Did you mean '%s'?"::formatted)
                        .orElse(
                                "Write the class and the method of a bean, as in \"[com.acme.Mailer.send]\", or remove the key."));
    }
}
