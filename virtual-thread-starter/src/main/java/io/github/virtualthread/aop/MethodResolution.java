package io.github.virtualthread.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.util.ReflectionUtils;

/**
 * Decides for each method of one class which annotation applies.
 *
 * <p>An annotation on the method, or on one that it overrides or implements, beats one on a type; the nearest wins. A
 * type covers the public methods that it declares, whoever implements them, except those of {@code Object} and those by
 * which the container drives the life of a bean, such as {@code setApplicationContext} and {@code afterPropertiesSet}.
 */
final class MethodResolution {

    private final Class<?> type;
    private final List<Class<?>> types;
    private final Class<? extends Annotation> annotationType;
    private final Map<Class<?>, Declaration> carriers = new LinkedHashMap<>();

    MethodResolution(Class<?> type, List<Class<?>> types, Class<? extends Annotation> annotationType) {
        this.type = type;
        this.types = types;
        this.annotationType = annotationType;
        for (Class<?> each : types) {
            Declaration declaration = Declaration.of(each, annotationType);
            if (declaration != null) {
                carriers.put(each, declaration);
            }
        }
    }

    Stream<AnnotatedMethod> annotated() {
        return declarations().entrySet().stream()
                .map(each -> resolve(each.getKey(), List.copyOf(each.getValue())))
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

    private @Nullable AnnotatedMethod resolve(Method method, List<Method> declarations) {
        if (method.isSynthetic()) {
            return null;
        }
        for (Method each : declarations) {
            Declaration declaration = Declaration.of(each, annotationType);
            if (declaration != null) {
                return annotated(method, declarations, declaration, null);
            }
        }
        return !carriers.isEmpty() && isCoverable(method, declarations) ? covered(method, declarations) : null;
    }

    private @Nullable AnnotatedMethod covered(Method method, List<Method> declarations) {
        for (Map.Entry<Class<?>, Declaration> carrier : carriers.entrySet()) {
            if (declares(carrier.getKey(), declarations)) {
                return annotated(method, declarations, carrier.getValue(), carrier.getKey());
            }
        }
        return null;
    }

    private AnnotatedMethod annotated(
            Method method, List<Method> declarations, Declaration declaration, @Nullable Class<?> carrier) {
        boolean isGenerated = Proxy.isProxyClass(type) || type.isHidden();
        if (!isGenerated && !type.isInterface()) {
            return new AnnotatedMethod(type, method, declarations, annotationType, declaration, carrier, false);
        }
        // users do not know generated classes by name, and a bean known by its interface alone may be of one
        Method known = declarations.get(isGenerated && declarations.size() > 1 ? 1 : 0);
        return new AnnotatedMethod(
                known.getDeclaringClass(), known, declarations, annotationType, declaration, carrier, false);
    }

    private static boolean declares(Class<?> type, List<Method> declarations) {
        return declarations.stream()
                .filter(method -> method.getDeclaringClass() == type)
                .map(BridgeMethodResolver::findBridgedMethod)
                .anyMatch(method -> method.getDeclaringClass() == type && isPublic(method) && !method.isSynthetic());
    }

    private static boolean isCoverable(Method method, List<Method> declarations) {
        return isPublic(method)
                && !ReflectionUtils.isObjectMethod(method)
                && declarations.stream().noneMatch(LifeCycle::isCallback);
    }

    private static boolean isPublic(Method method) {
        return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
    }
}
