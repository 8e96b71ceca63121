package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Hints for a native image that do not depend on beans: the annotations, and the classes whose presence is checked by name.
 * Hints that belong to a bean, such as those for the records of the endpoint, are registered with that bean.
 */
final class VirtualThreadHints implements RuntimeHintsRegistrar {

    /** Without a hint, a class on the classpath seems to be absent. */
    private static final List<String> ASKED_FOR_BY_NAME = List.of(
            "com.zaxxer.hikari.HikariDataSource",
            "io.micrometer.context.ContextSnapshotFactory",
            "org.aspectj.lang.ProceedingJoinPoint",
            "org.springframework.security.core.context.SecurityContextHolder",
            "org.springframework.transaction.support.TransactionSynchronizationManager");

    /** Created by Spring. */
    VirtualThreadHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        ReflectionHints reflection = hints.reflection();
        for (Class<?> annotation : List.of(VirtualThread.class, Limited.class)) {
            reflection.registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        ASKED_FOR_BY_NAME.forEach(name -> reflection.registerTypeIfPresent(classLoader, name, type -> {}));
    }
}
