package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.ContextPropagation;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Carries the {@link Deadline} of a thread through Reactor and through the executors of Spring, where Micrometer's context-propagation
 * is on the classpath. Context-propagation finds it by {@code META-INF/services}; nothing else may load it.
 */
@Internal
public final class DeadlineAccessor implements ThreadLocalAccessor<Deadline> {

    /** Creates an accessor. */
    public DeadlineAccessor() {}

    @Override
    public Object key() {
        return ContextPropagation.DEADLINE_KEY;
    }

    @Override
    public @Nullable Deadline getValue() {
        return Deadline.current();
    }

    @Override
    public void setValue(Deadline deadline) {
        Deadline unused = Deadline.open(deadline);
    }

    @Override
    public void setValue() {
        Deadline unused = Deadline.open(null);
    }
}
