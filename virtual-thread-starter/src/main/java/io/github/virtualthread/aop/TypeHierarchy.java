package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import org.springframework.util.ClassUtils;

/** The types from which a bean inherits annotations, nearest first. */
@Internal
public final class TypeHierarchy {

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

    /**
     * Those of {@link #of} whose code is that of users: not of Java or Spring, and of interfaces those with default methods.
     *
     * @param type class of a bean
     * @return types, nearest first
     */
    public static List<Class<?>> withCodeOfUsers(Class<?> type) {
        return of(type).stream().filter(TypeHierarchy::hasCodeOfUsers).toList();
    }

    private static boolean hasCodeOfUsers(Class<?> type) {
        return !isOfJdk(type)
                && !isOfSpring(type)
                && (!type.isInterface()
                        || Arrays.stream(AnnotatedMethods.methodsOf(type)).anyMatch(Method::isDefault));
    }

    /**
     * Whether a type belongs to the JDK.
     *
     * @param type any type
     * @return whether it does
     */
    public static boolean isOfJdk(Class<?> type) {
        return type.getName().startsWith("java.") || type.getName().startsWith("jdk.");
    }

    /**
     * Whether a type belongs to Spring itself. Its well-known samples are applications like any other.
     *
     * @param type any type
     * @return whether it does
     */
    public static boolean isOfSpring(Class<?> type) {
        return type.getName().startsWith("org.springframework.")
                && !type.getName().startsWith("org.springframework.samples.");
    }

    /** The class that a user wrote, behind any number of generated subclasses. */
    static Class<?> userClass(Class<?> type) {
        Class<?> user = ClassUtils.getUserClass(type);
        return user == type ? type : userClass(user);
    }
}
