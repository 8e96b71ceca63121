package io.github.virtualthread.context;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Every thread-local that is registered with Micrometer's context-propagation, such as the trace. Two are left out: the deadline, which a
 * task carries itself, and the security context, which {@link SecurityCapture} carries.
 *
 * <p>Does what a snapshot of context-propagation does, but asks no accessor for its key at a call, and keeps no map.
 */
final class RegisteredCapture implements Supplier<CapturedContext> {

    /** The second is the key of Spring Security's own accessor, which shares the context with the caller. */
    private static final Set<Object> LEFT_OUT =
            Set.of(ContextPropagation.DEADLINE_KEY, "org.springframework.security.core.context.SecurityContext");

    private final List<ThreadLocalAccessor<?>> registered =
            ContextRegistry.getInstance().getThreadLocalAccessors();

    private Known known = new Known(List.of(), List.of()); // immutable: a race makes one more

    @Override
    public CapturedContext get() {
        Known latest = known;
        if (!registered.equals(latest.all)) { // an accessor has come or gone
            List<ThreadLocalAccessor<?>> all = List.copyOf(registered);
            latest = new Known(
                    all,
                    all.stream().filter(each -> !LEFT_OUT.contains(each.key())).toList());
            known = latest;
        }
        CapturedContext captured = CapturedContext.EMPTY;
        for (ThreadLocalAccessor<?> accessor : latest.carried) {
            captured = ContextPropagation.join(captured, captured(accessor));
        }
        return captured;
    }

    /** Reads the accessor once, because that may have an effect. */
    private static <V> CapturedContext captured(ThreadLocalAccessor<V> accessor) {
        V value = accessor.getValue();
        return value == null
                ? CapturedContext.EMPTY
                : () -> {
                    V before = accessor.getValue();
                    accessor.setValue(value);
                    return before == null ? accessor::restore : () -> accessor.restore(before);
                };
    }

    /** The accessors that were registered at the last call, and those of them whose values are carried. */
    private record Known(List<ThreadLocalAccessor<?>> all, List<ThreadLocalAccessor<?>> carried) {}
}
