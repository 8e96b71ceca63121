package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.CapturedContext.Scope;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.TaskLimit;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task that waits for its permit on the thread that calls it, with what was captured of the thread that made it, and nothing of what
 * the calling thread has.
 *
 * @param deadline deadline of the maker, null for none
 */
record LimitedTask<T extends @Nullable Object>(
        TaskEngine engine,
        TaskSpec spec,
        CapturedContext context,
        @Nullable Deadline deadline,
        Callable<T> task) implements Callable<T> {

    static <T extends @Nullable Object> LimitedTask<T> of(TaskEngine engine, TaskSpec spec, Callable<T> task) {
        PermitHolders holders = engine.parts().holders();
        TaskLimit limit = spec.limit();
        if (holders.currentHoldsAnyFor(limit) && isFull(limit)) {
            if (limit != null && limit.nested() == Nested.FAIL) {
                throw CallerTask.reject(spec, Reason.NESTED, null);
            }
            holders.warn(spec, false);
        }
        return new LimitedTask<>(engine, spec, engine.parts().propagation().capture(), Deadline.current(), task);
    }

    /** Whether no permit is free of the limit, or of one around it. */
    private static boolean isFull(@Nullable TaskLimit limit) {
        return limit != null && (!limit.isAnyFree() || isFull(limit.within()));
    }

    @Override
    public T call() throws Exception {
        Scope scope = engine.parts().propagation().replace(context);
        Deadline before = Deadline.open(Deadline.earlier(deadline, Deadline.current()));
        try {
            return VirtualThreads.call(engine, EngineSpec.of(spec).forNextCall(), task);
        } finally {
            Deadline unused = Deadline.open(before);
            ContextPropagation.close(scope);
        }
    }
}
