package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;
import io.github.virtualthread.context.ContextPropagation.ContextCapture;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.Map;

/** Every thread-local that is registered with Micrometer's context-propagation, such as the trace. */
final class SnapshotCapture implements ContextCapture {

    private final ContextSnapshotFactory snapshots =
            ContextSnapshotFactory.builder().build();

    @Override
    public CapturedContext capture() {
        ContextSnapshot snapshot = snapshots.captureAll();
        // the only existing implementation is a map of its values
        if (snapshot instanceof Map<?, ?> captured && captured.isEmpty()) {
            return CapturedContext.EMPTY;
        }
        return () -> {
            ContextSnapshot.Scope scope = snapshot.setThreadLocals();
            Scope close = scope::close;
            return close;
        };
    }
}
