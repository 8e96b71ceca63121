package io.github.virtualthread.aop;

import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ReactiveAdapterRegistry;

/** Warns of methods with {@code @Limited} whose work goes on after they have returned. */
final class FutureWarnings {

    private static final Logger logger = LoggerFactory.getLogger(FutureWarnings.class);

    private static final Set<String> FUTURES = Set.of(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "org.reactivestreams.Publisher",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Deferred");

    private FutureWarnings() {}

    static void log(AnnotatedMethod method) {
        Class<?> returned = method.method().getReturnType();
        if (method.isLimited() && isFuture(returned)) {
            logger.warn(
                    "{} has {} and returns {}: the permit covers the method, not what goes on after it has returned. Use "
                            + "@VirtualThread, or return the value itself",
                    method.qualifiedName(),
                    method.annotation(),
                    returned.getSimpleName());
        }
    }

    private static boolean isFuture(Class<?> type) {
        return TypeHierarchy.of(type).stream().map(Class::getName).anyMatch(FUTURES::contains)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }
}
