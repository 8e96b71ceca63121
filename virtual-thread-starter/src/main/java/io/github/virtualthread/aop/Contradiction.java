package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.util.ClassUtils;

/** An annotation with two values for attributes that mean the same, as Spring reports it whenever it reads the annotation. */
@Internal
public final class Contradiction {

    private static final Pattern REPORT = Pattern.compile(
            "annotation \\[(.+?)](?: declared on (.+))?; attribute '(.+)' and its alias '(.+)' are declared with values of"
                    + " \\[(.*)] and \\[(.*)]");

    private static final Pattern PLACE = Pattern.compile("(?:.* )?([\\w.$]+)(?:\\(.*\\))?"); // a class or a method

    private Contradiction() {}

    /**
     * The mistake in a class that Spring has scanned, where it reads annotations before beans can be checked.
     *
     * @param failure what Spring has reported
     * @param scan how the scan has failed; its message names the file, because Spring 7 on JDK 24 and later reports no class
     * @return null if the annotation is not one of the starter, and has none of them
     */
    public static @Nullable Mistake inScannedClass(AnnotationConfigurationException failure, Throwable scan) {
        Matcher report = REPORT.matcher(String.valueOf(failure.getMessage()));
        if (!report.find() || !isOurs(report.group(1))) {
            return null;
        }
        Matcher place = PLACE.matcher(String.valueOf(report.group(2)));
        return mistake(
                "@" + report.group(1).replaceFirst(".*[.$]", ""),
                place.matches() ? place.group(1) : placeIn(String.valueOf(scan.getMessage()), report.group(1)),
                values(report));
    }

    /** The class or method that has the annotation; the file if its class cannot be loaded. */
    private static String placeIn(String scan, String annotation) {
        String file = scan.replaceFirst("(?s).*: ", "");
        Class<?> type = classIn(file);
        if (type == null) {
            return file;
        }
        Class<? extends Annotation> declared =
                ClassUtils.resolveClassName(annotation, null).asSubclass(Annotation.class);
        for (Method method : type.getDeclaredMethods()) {
            if (contradicts(Declaration.of(method, declared))) {
                return type.getName() + "." + method.getName();
            }
        }
        return type.getName();
    }

    private static boolean contradicts(@Nullable Declaration declaration) {
        return declaration != null && declaration.contradiction() != null;
    }

    /** The class of a file, whose path has the folders of its package at its end. */
    private static @Nullable Class<?> classIn(String file) {
        String name = file.replaceFirst("\\.class\\b.*", "").replaceAll("[/\\\\]", ".");
        for (int begin = 0; ; begin = name.indexOf('.', begin) + 1) {
            try {
                return ClassUtils.forName(name.substring(begin), null);
            } catch (ClassNotFoundException | LinkageError notItsName) {
                if (name.indexOf('.', begin) < 0) {
                    return null;
                }
            }
        }
    }

    static Mistake mistake(String annotation, String place, String values) {
        return new Mistake(
                "%s on %s contradicts itself: %s".formatted(annotation, place, values),
                "Set only one of the attributes; value and limit mean the same.");
    }

    /** As in {@code value is 'db', but limit is 'mail'}; Spring's words if it has reported something else. */
    static String values(AnnotationConfigurationException failure) {
        String message = String.valueOf(failure.getMessage());
        Matcher report = REPORT.matcher(message);
        return report.find() ? values(report) : message;
    }

    private static String values(Matcher report) {
        return "%s is '%s', but %s is '%s'"
                .formatted(report.group(4), report.group(6), report.group(3), report.group(5));
    }

    private static boolean isOurs(String annotation) {
        try {
            Class<?> type = ClassUtils.forName(annotation, null);
            return type == VirtualThread.class
                    || type == Limited.class
                    || Declaration.isOn(type, List.of(VirtualThread.class, Limited.class));
        } catch (ClassNotFoundException | LinkageError unknown) {
            return false;
        }
    }
}
