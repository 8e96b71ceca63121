package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.limit.TaskLimit;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows which thread holds permits of which limits: threads of tasks, and callers that run under a limit themselves. */
final class PermitHolders {

    private static final Logger logger = LoggerFactory.getLogger(PermitHolders.class);

    private final Map<Thread, CallerTask> callers = new ConcurrentHashMap<>();
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    /** The call on the current thread that took its permit last and still holds it. */
    @Nullable
    CallerTask innermost() {
        return callers.get(Thread.currentThread());
    }

    /** Adds a call of the current thread, which already knows its outer one. Other threads see it from now on. */
    void enter(CallerTask permit) {
        callers.put(Thread.currentThread(), permit);
    }

    void leave(@Nullable CallerTask outer) {
        if (outer == null) {
            callers.remove(Thread.currentThread());
        } else {
            callers.put(Thread.currentThread(), outer);
        }
    }

    /** Callers that hold permits on their own threads at this moment, the innermost call of each thread. */
    Map<Thread, CallerTask> callers() {
        // an immutable copy would throw: a thread that leaves and comes back during the copy may be found twice
        return new HashMap<>(callers);
    }

    boolean currentHolds(@Nullable TaskLimit limit) {
        return limit != null && holder(limit) != null;
    }

    /** The call on the current thread that holds a permit of the limit. */
    private @Nullable TaskSpec holder(TaskLimit limit) {
        for (CallerTask permit = innermost(); permit != null; permit = permit.outer()) {
            if (limit.equals(permit.spec().limit())) {
                return permit.spec();
            }
        }
        Task task = Task.current();
        return task != null && task.holdsPermit() && limit.equals(task.spec().limit()) ? task.spec() : null;
    }

    /** Warns, once for each pair of methods, that a call waits for a permit of a limit that its caller holds. */
    void warn(TaskSpec inner) {
        SafeLog.write(() -> warnOnce(inner));
    }

    private void warnOnce(TaskSpec inner) {
        TaskLimit limit = inner.limit();
        TaskSpec outer = limit == null ? null : holder(limit);
        if (limit != null && outer != null && warned.add(outer.name() + " " + inner.name())) {
            logger.warn(
                    "{} calls {} while it holds a permit of limit '{}', and no other permit is free. Once {}, none of"
                            + " these calls can proceed. Give {} a limit of its own, let one call"
                            + " do both, or set virtual-thread.limits.{}.nested to fail.",
                    outer.name(),
                    inner.name(),
                    limit.name(),
                    limit.permits() == 1
                            ? "the only permit is held this way"
                            : "all %d permits are held this way".formatted(limit.permits()),
                    inner.name(),
                    limit.name());
        }
    }
}
