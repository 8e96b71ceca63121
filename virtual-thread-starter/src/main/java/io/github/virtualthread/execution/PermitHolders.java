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

    /** Calls that hold permits and go on without a thread of their own. */
    final Set<CallerTask> away = ConcurrentHashMap.newKeySet();

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

    /** Whether the current thread holds a permit of the limit, or of one within it. */
    boolean currentHolds(TaskLimit limit) {
        return holder(limit) != null;
    }

    /** Whether the current thread holds a permit that a call under the limit needs: of the limit, or of one around it. */
    boolean currentHoldsAnyFor(@Nullable TaskLimit limit) {
        return limit != null && (currentHolds(limit) || heldAround(limit) != null);
    }

    /** The nearest limit around another one of which the current thread holds a permit, null for none. */
    @Nullable
    TaskLimit heldAround(TaskLimit limit) {
        TaskLimit around = limit.within();
        while (around != null && !currentHolds(around)) {
            around = around.within();
        }
        return around;
    }

    /** The call on the current thread that holds a permit of the limit, or of one within it; the innermost of several. */
    private @Nullable Call holder(TaskLimit limit) {
        for (CallerTask permit = innermost(); permit != null; permit = permit.outer()) {
            if (permit.holdsPermit() && includes(permit, limit)) { // a web request may have ended before its thread
                return permit;
            }
        }
        Task task = Task.current();
        return task != null && task.holdsPermit() && includes(task, limit) ? task : null;
    }

    private static boolean includes(Call call, TaskLimit limit) {
        TaskLimit held = call.spec().limit();
        return held != null && held.includes(limit);
    }

    /**
     * Warns, once for each limit and pair of methods, that a call waits for a permit of a limit that its caller holds.
     *
     * @param inner name and limit of the call
     * @param isOfExecutor whether the call was submitted to an executor and is not a method
     */
    void warn(TaskSpec inner, boolean isOfExecutor) {
        TaskLimit limit = inner.limit();
        if (limit != null) {
            SafeLog.write(() -> warnOnce(inner.name(), isOfExecutor, limit));
        }
    }

    private void warnOnce(String inner, boolean isOfExecutor, TaskLimit limit) {
        TaskLimit held = currentHolds(limit) ? limit : heldAround(limit);
        Call outer = held == null ? null : holder(held);
        if (held != null
                && outer != null
                && warned.add(String.join(" ", outer.spec().name(), inner, limit.name()))) {
            String full = "all %d permits are held this way".formatted(held.permits());
            if (held.permits() == 1) {
                full = "the only permit is held this way";
            }
            String remedy = "Give %1$s a limit of its own, let one call do both, make %1$s @Limited".formatted(inner);
            if (isOfExecutor) {
                remedy = "Submit it to an executor under another limit, run it on the caller's thread";
            }
            logger.warn(
                    "{}{} {} {} while it holds a permit of limit '{}', and no other permit is free. Once {}, none of these calls"
                            + " can proceed. {}, or set virtual-thread.limits.{}.nested to fail.",
                    outer.isOfExecutor() ? "A task of " : "",
                    outer.spec().name(),
                    isOfExecutor ? "submits a task to" : "calls",
                    inner,
                    held.name(),
                    full,
                    remedy,
                    limit.name());
        }
    }
}
