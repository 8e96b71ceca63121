package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.core.task.TaskDecorator;

/**
 * What an application adds to its calls. It is looked up late, because an engine is created before most beans.
 *
 * @param listeners looks up the listeners when the first call is made
 * @param decorators looks up the decorators of all bodies, the first one innermost, when the first task is submitted
 */
@Internal
public record CallExtensions(
        Supplier<? extends List<TaskListener>> listeners, Supplier<? extends List<TaskDecorator>> decorators) {

    /** Adds nothing. */
    public static final CallExtensions NONE = new CallExtensions(List::of, List::of);
}
