package io.github.virtualthread.aop;

import io.github.virtualthread.Limited;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotated methods of a class: those with {@code @VirtualThread} or its replacement, and those with
 * {@link Limited}, each with the one annotation that applies to it.
 *
 * <p>Each class is inspected once; after that, finding a method costs two look-ups in maps.
 */
final class AnnotatedMethods {

    private static final Logger logger = LoggerFactory.getLogger(AnnotatedMethods.class);

    private final Class<? extends Annotation> annotationType;
    private final List<Class<? extends Annotation>> annotationTypes;
    private final Map<Class<?>, Map<Method, AnnotatedMethod>> classes = new ConcurrentHashMap<>();
    private final Map<Class<?>, Boolean> carriers = new ConcurrentHashMap<>();

    AnnotatedMethods(Class<? extends Annotation> annotationType) {
        this.annotationType = annotationType;
        this.annotationTypes =
                annotationType == Limited.class ? List.of(Limited.class) : List.of(annotationType, Limited.class);
    }

    /** The annotations of a class, as messages show them. */
    String annotations(Class<?> type) {
        return in(type).stream()
                .map(AnnotatedMethod::annotation)
                .distinct()
                .sorted(Comparator.reverseOrder())
                .collect(Collectors.joining(" and "));
    }

    /** The annotation that asks for virtual threads. */
    Class<? extends Annotation> annotationType() {
        return annotationType;
    }

    /** The annotated method that runs when {@code method} is called on an object of {@code targetClass}. */
    @Nullable
    AnnotatedMethod find(Method method, Class<?> targetClass) {
        return of(targetClass).get(method);
    }

    /** Whether a class has annotated methods. */
    boolean areIn(Class<?> type) {
        return !of(type).isEmpty();
    }

    /** All annotated methods of a class, by name. */
    List<AnnotatedMethod> in(Class<?> type) {
        return of(type).values().stream().distinct().toList();
    }

    /** By each method that they override or implement. */
    private Map<Method, AnnotatedMethod> of(Class<?> type) {
        Map<Method, AnnotatedMethod> known = classes.get(type);
        if (known == null) {
            Class<?> user = TypeHierarchy.userClass(type);
            known = carries(user) || inherits(user) ? inspect(user) : Map.of();
            classes.put(type, known);
        }
        return known;
    }

    private Map<Method, AnnotatedMethod> inspect(Class<?> type) {
        Map<Method, AnnotatedMethod> byDeclaration = new LinkedHashMap<>();
        new MethodResolution(type, annotationTypes)
                .annotated()
                .sorted(Comparator.comparing(AnnotatedMethod::qualifiedName)
                        .thenComparing(each -> each.method().toString()))
                .forEach(each -> each.declarations().forEach(method -> byDeclaration.put(method, each)));
        return byDeclaration;
    }

    /** Whether one of the supertypes carries an annotation; each of them is inspected once. */
    private boolean inherits(Class<?> type) {
        Class<?> parent = type.getSuperclass();
        if (parent != null && parent != Object.class && isCarrier(parent)) {
            return true;
        }
        for (Class<?> each : type.getInterfaces()) {
            if (isCarrier(each)) {
                return true;
            }
        }
        return false;
    }

    private boolean isCarrier(Class<?> type) {
        Boolean known = carriers.get(type);
        if (known == null) {
            known = carries(type) || inherits(type);
            carriers.put(type, known);
        }
        return known;
    }

    /** Whether the type itself or one of its own methods has one of the annotations. */
    private boolean carries(Class<?> type) {
        return (isCandidate(type, annotationType) || isCandidate(type, Limited.class)) && isAnnotated(type);
    }

    /** Most beans are Spring's own, and Spring's classes have no annotations but Spring's. */
    private static boolean isCandidate(Class<?> type, Class<? extends Annotation> annotationType) {
        return AnnotationUtils.isCandidateClass(type, annotationType)
                && (!TypeHierarchy.isOfSpring(type) || TypeHierarchy.isOfSpring(annotationType));
    }

    private boolean isAnnotated(Class<?> type) {
        boolean found = isOn(type);
        for (Method method : methodsOf(type)) { // for every class of an application: a stream would be most of the work
            found = found || isOn(method);
        }
        return found;
    }

    /** Most have no annotation at all, and Spring would keep that in a cache for each of them. */
    private boolean isOn(AnnotatedElement element) {
        return element.getDeclaredAnnotations().length > 0 && Declaration.isOn(element, annotationTypes);
    }

    /** Methods declared in a type, and default methods of its interfaces; none if a class in a signature is missing. */
    static Method[] methodsOf(Class<?> type) {
        try {
            return ReflectionUtils.getDeclaredMethods(type);
        } catch (IllegalStateException failure) {
            logger.debug("Methods of {} cannot be read; none of them is advised", type.getName(), failure);
            return new Method[0];
        }
    }
}
