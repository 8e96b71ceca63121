package io.github.virtualthread.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The attributes of one annotation as they are written: placeholders are not resolved.
 *
 * @param type the annotation
 * @param limit name of a limit, {@code "none"}, or empty
 * @param name name of the task, or empty
 * @param timeout maximum run, or empty
 * @param deadline time for wait and run together, or empty
 * @param key expression over the arguments, or empty
 * @param contradiction why the annotation cannot be read, null if it can
 */
record Declaration(
        Class<? extends Annotation> type,
        String limit,
        String name,
        String timeout,
        String deadline,
        String key,
        @Nullable String contradiction) {

    /**
     * Reads the annotation that is present or meta-present on the element itself.
     *
     * @param annotationType {@code VirtualThread} or a type of the user's, whose attributes {@code limit} or {@code
     *     value}, {@code name}, {@code timeout}, {@code deadline} and {@code key} count if they are strings
     */
    static @Nullable Declaration of(AnnotatedElement element, Class<? extends Annotation> annotationType) {
        try {
            MergedAnnotation<?> annotation =
                    MergedAnnotations.from(element, SearchStrategy.DIRECT).get(annotationType);
            if (!annotation.isPresent()) {
                return null;
            }
            String limit = text(annotation, "limit");
            return new Declaration(
                    annotationType,
                    limit.isEmpty() ? text(annotation, "value") : limit,
                    text(annotation, "name"),
                    text(annotation, "timeout"),
                    text(annotation, "deadline"),
                    text(annotation, "key"),
                    null);
        } catch (AnnotationConfigurationException failure) {
            return new Declaration(annotationType, "", "", "", "", "", Contradiction.values(failure));
        }
    }

    /** Whether one of the annotations is present or meta-present on the element itself, readable or not. */
    static boolean isOn(AnnotatedElement element, List<Class<? extends Annotation>> annotationTypes) {
        MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.DIRECT);
        try {
            return annotationTypes.stream().anyMatch(annotations::isPresent);
        } catch (AnnotationConfigurationException unreadable) {
            return true;
        }
    }

    private static String text(MergedAnnotation<?> annotation, String attribute) {
        return annotation.getValue(attribute).orElse("") instanceof String text ? text : "";
    }
}
