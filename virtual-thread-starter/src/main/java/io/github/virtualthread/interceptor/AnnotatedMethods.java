package io.github.virtualthread.interceptor;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Which methods of a class are annotated, each with the annotation that applies to it.
 *
 * <p>A class is looked at once; asking for a method of it again costs two look-ups in maps.
 */
final class AnnotatedMethods {

    private static final Logger logger = LoggerFactory.getLogger(AnnotatedMethods.class);

    private static final OfClass NOTHING = new OfClass(Map.of(), List.of());

    private final Class<? extends Annotation> annotationType;
    private final Map<Class<?>, OfClass> classes = new ConcurrentHashMap<>();
    private final Map<Class<?>, Boolean> carriers = new ConcurrentHashMap<>();

    AnnotatedMethods(Class<? extends Annotation> annotationType) {
        this.annotationType = annotationType;
    }

    /** What to call the annotation in messages. */
    String annotation() {
        return "@" + annotationType.getSimpleName();
    }

    Class<? extends Annotation> annotationType() {
        return annotationType;
    }

    /** The annotated method that runs when {@code method} is called on an object of {@code targetClass}. */
    @Nullable
    AnnotatedMethod find(Method method, Class<?> targetClass) {
        return of(targetClass).byDeclaration().get(method);
    }

    /** All annotated methods of a class, by name. */
    List<AnnotatedMethod> in(Class<?> type) {
        return of(type).all();
    }

    private OfClass of(Class<?> type) {
        OfClass known = classes.get(type);
        if (known == null) {
            known = inspect(TypeHierarchy.userClass(type));
            classes.put(type, known);
        }
        return known;
    }

    private OfClass inspect(Class<?> type) {
        List<Class<?>> types = TypeHierarchy.of(type);
        if (types.stream().noneMatch(this::carries)) {
            return NOTHING;
        }
        Map<Method, AnnotatedMethod> byDeclaration = new HashMap<>();
        List<AnnotatedMethod> all = new MethodResolution(type, types, annotationType)
                .annotated()
                .sorted(Comparator.comparing(AnnotatedMethod::qualifiedName)
                        .thenComparing(each -> each.method().toString()))
                .toList();
        all.forEach(each -> each.declarations().forEach(method -> byDeclaration.put(method, each)));
        return all.isEmpty() ? NOTHING : new OfClass(byDeclaration, all);
    }

    /** Whether the type itself or one of its own methods has the annotation. */
    private boolean carries(Class<?> type) {
        Boolean known = carriers.get(type);
        if (known == null) {
            known = isCandidate(type) && isAnnotated(type);
            carriers.put(type, known);
        }
        return known;
    }

    /** Most beans are Spring's own, which has no annotations but its own. */
    private boolean isCandidate(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, annotationType)
                && (!TypeHierarchy.isOfSpring(type) || TypeHierarchy.isOfSpring(annotationType));
    }

    private boolean isAnnotated(Class<?> type) {
        return Declaration.of(type, annotationType) != null
                || Arrays.stream(methodsOf(type)).anyMatch(method -> Declaration.of(method, annotationType) != null);
    }

    /**
     * Methods declared in a type, and default methods of its interfaces; none where a type in a signature is missing.
     */
    static Method[] methodsOf(Class<?> type) {
        try {
            return ReflectionUtils.getDeclaredMethods(type);
        } catch (IllegalStateException failure) {
            logger.debug("Methods of {} cannot be read; none of them is advised", type.getName(), failure);
            return new Method[0];
        }
    }

    private record OfClass(Map<Method, AnnotatedMethod> byDeclaration, List<AnnotatedMethod> all) {}
}
