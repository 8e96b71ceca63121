package io.github.virtualthread.context;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Every thread-local that is registered with Micrometer's context-propagation, such as the trace. Two are left out: the deadline, which a
 * task carries itself, and the security context, which {@link SecurityCapture} carries.
 */
final class SnapshotCapture implements Supplier<CapturedContext> {

    /** Key of Spring Security's own accessor, which shares the context with the caller. */
    private static final String SECURITY_KEY = "org.springframework.security.core.context.SecurityContext";

    private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder()
            .captureKeyPredicate(key -> !ContextPropagation.DEADLINE_KEY.equals(key) && !SECURITY_KEY.equals(key))
            .build();

    @Override
    public CapturedContext get() {
        ContextSnapshot snapshot = snapshots.captureAll();
        // the only existing implementation is a map of its values
        if (snapshot instanceof Map<?, ?> captured && captured.isEmpty()) {
            return CapturedContext.EMPTY;
        }
        return () -> snapshot.setThreadLocals()::close;
    }
}
