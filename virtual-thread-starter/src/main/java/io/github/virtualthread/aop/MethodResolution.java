package io.github.virtualthread.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.util.ReflectionUtils;

/**
 * Decides for each method of one class which annotation applies.
 *
 * <p>An annotation on the method, or on one that it overrides or implements, beats one on a type; the nearest wins, and two in
 * the same place are a mistake. A type covers the public methods that it declares, whoever implements them, except those of
 * {@code Object} and those by which the container drives the life of a bean, such as {@code setApplicationContext} and {@code
 * afterPropertiesSet}.
 */
final class MethodResolution {

    private final Class<?> type;
    private final List<Class<? extends Annotation>> annotationTypes;
    private final List<Class<?>> types;
    private final List<Class<?>> carriers;

    MethodResolution(Class<?> type, List<Class<? extends Annotation>> annotationTypes) {
        this.type = type;
        this.annotationTypes = annotationTypes;
        this.types = TypeHierarchy.of(type);
        this.carriers = types.stream()
                .filter(each -> Declaration.isOn(each, annotationTypes))
                .toList();
    }

    Stream<AnnotatedMethod> annotated() {
        return declarations().entrySet().stream()
                .filter(each -> !each.getKey().isSynthetic())
                .map(each -> resolve(List.copyOf(each.getValue())))
                .filter(each -> each != null);
    }

    /** Every method that runs, with the methods that it overrides or implements, nearest first. */
    private Map<Method, Set<Method>> declarations() {
        Map<Method, Set<Method>> declarations = new LinkedHashMap<>();
        for (Class<?> each : types) {
            for (Method method : AnnotatedMethods.methodsOf(each)) {
                declarations
                        .computeIfAbsent(running(method), key -> new LinkedHashSet<>(List.of(key)))
                        .add(method);
            }
        }
        return declarations;
    }

    private Method running(Method method) {
        boolean overridable = (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0;
        return overridable ? AopUtils.getMostSpecificMethod(method, type) : method;
    }

    private @Nullable AnnotatedMethod resolve(List<Method> declarations) {
        AnnotatedMethod found = null;
        for (Method each : declarations) {
            found = found == null ? annotated(declarations, each, null) : found;
        }
        for (Class<?> each : carriers) {
            if (found == null && declares(each, declarations) && isCoverable(declarations)) {
                found = annotated(declarations, each, each);
            }
        }
        return found;
    }

    /** The method by the annotation of one place, which is one of its declarations or the carrier; null if there is none. */
    private @Nullable AnnotatedMethod annotated(
            List<Method> declarations, AnnotatedElement place, @Nullable Class<?> carrier) {
        boolean isGenerated = Proxy.isProxyClass(type) || type.isHidden();
        // users do not know generated classes by name, and a bean known by its interface alone may be of one
        Method known = declarations.get(isGenerated && declarations.size() > 1 ? 1 : 0);
        Class<?> owner = isGenerated || type.isInterface() ? known.getDeclaringClass() : type;
        List<Declaration> found = annotationTypes.stream()
                .map(each -> Declaration.of(place, each))
                .filter(Objects::nonNull)
                .toList();
        if (found.isEmpty()) {
            return null;
        }
        return new AnnotatedMethod(owner, known, declarations, found.get(0), carrier, found.size() > 1);
    }

    private static boolean declares(Class<?> type, List<Method> declarations) {
        return declarations.stream()
                .filter(method -> method.getDeclaringClass() == type)
                .map(BridgeMethodResolver::findBridgedMethod)
                .anyMatch(method -> method.getDeclaringClass() == type && isPublic(method) && !method.isSynthetic());
    }

    private static boolean isCoverable(List<Method> declarations) {
        Method method = declarations.get(0); // the one that runs
        return isPublic(method)
                && !ReflectionUtils.isObjectMethod(method)
                && declarations.stream().noneMatch(LifeCycle::isCallback);
    }

    private static boolean isPublic(Method method) {
        return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
    }
}
