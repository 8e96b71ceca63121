package io.github.virtualthread.aop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import org.springframework.util.ClassUtils;

/** The types from which a bean inherits annotations, nearest first. */
final class TypeHierarchy {

    private TypeHierarchy() {}

    /** The class, its superclasses from the bottom up without {@code Object}, then all interfaces, subinterfaces first. */
    static List<Class<?>> of(Class<?> type) {
        List<Class<?>> classes = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            classes.add(each);
        }
        LinkedHashSet<Class<?>> types = new LinkedHashSet<>(classes);
        List<Class<?>> level = classes;
        while (!level.isEmpty()) {
            level = level.stream()
                    .<Class<?>>flatMap(each -> Arrays.stream(each.getInterfaces()))
                    .toList();
            level.forEach(types::addLast); // moves each behind all of its subinterfaces
        }
        return List.copyOf(types);
    }

    /** Whether a type belongs to Spring itself. Its well-known samples are applications like any other. */
    static boolean isOfSpring(Class<?> type) {
        return type.getName().startsWith("org.springframework.")
                && !type.getName().startsWith("org.springframework.samples.");
    }

    /** The class that a user wrote, behind any number of generated subclasses. */
    static Class<?> userClass(Class<?> type) {
        Class<?> user = ClassUtils.getUserClass(type);
        return user == type ? type : userClass(user);
    }
}
