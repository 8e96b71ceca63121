package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import java.util.List;
import java.util.Set;

/**
 * Every thread-local that is registered with Micrometer's context-propagation, such as the trace. Two are left out: the deadline, which a
 * task carries itself, and the security context, which {@link SecurityCapture} carries.
 *
 * <p>Does what a snapshot of context-propagation does, but asks no accessor for its key at a call, and keeps no map.
 */
final class RegisteredCapture implements Capture {

    /** The second is the key of Spring Security's own accessor, which shares the context with the caller. */
    private static final Set<Object> LEFT_OUT =
            Set.of(ContextPropagation.DEADLINE_KEY, "org.springframework.security.core.context.SecurityContext");

    private final List<ThreadLocalAccessor<?>> registered =
            ContextRegistry.getInstance().getThreadLocalAccessors();

    private Known known = new Known(List.of(), ContextPropagation.none()); // immutable: a race makes one more

    @Override
    public CapturedContext get() {
        return carried().capture();
    }

    @Override
    public Scope hide() {
        return carried().hide();
    }

    private ContextPropagation carried() {
        Known latest = known;
        if (!registered.equals(latest.all)) { // an accessor has come or gone
            List<ThreadLocalAccessor<?>> all = List.copyOf(registered);
            latest = new Known(
                    all,
                    new ContextPropagation(all.stream()
                            .filter(each -> !LEFT_OUT.contains(each.key()))
                            .map(Registered::new)));
            known = latest;
        }
        return latest.carried;
    }

    /** One thread-local. */
    private record Registered<V>(ThreadLocalAccessor<V> accessor) implements Capture {

        /** Reads the accessor once, because that may have an effect. */
        @Override
        public CapturedContext get() {
            V value = accessor.getValue();
            if (value == null) {
                return CapturedContext.EMPTY;
            }
            return () -> {
                V before = accessor.getValue();
                accessor.setValue(value);
                return before == null ? accessor::restore : () -> accessor.restore(before);
            };
        }

        /** As a snapshot does that clears what it lacks: to set the value again would open one more scope of an observation. */
        @Override
        public Scope hide() {
            V found = accessor.getValue();
            if (found == null) {
                return Scope.NOTHING;
            }
            accessor.setValue();
            return () -> accessor.restore(found);
        }
    }

    /** The accessors that were registered at the last call, and those of them whose values are carried. */
    private record Known(List<ThreadLocalAccessor<?>> all, ContextPropagation carried) {}
}
