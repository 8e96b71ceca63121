package io.github.virtualthread.aop;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
        Set<Class<?>> types = new LinkedHashSet<>(classes);
        List<Class<?>> level = classes;
        while (!level.isEmpty()) {
            List<Class<?>> next = new ArrayList<>();
            for (Class<?> each : level) {
                for (Class<?> parent : each.getInterfaces()) {
                    // moved behind all of its subinterfaces
                    types.remove(parent);
                    types.add(parent);
                    next.add(parent);
                }
            }
            level = next;
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
