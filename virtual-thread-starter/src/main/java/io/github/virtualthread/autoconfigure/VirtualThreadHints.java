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
 * What a native image must keep for the starter, whatever the beans are: its annotations, and the classes whose presence it
 * asks for by name. What belongs to a bean, such as the records of the endpoint, is registered with that bean.
 */
final class VirtualThreadHints implements RuntimeHintsRegistrar {

    /** Without a hint a class that is there looks as if it were not. */
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
