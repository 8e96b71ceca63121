package io.github.virtualthread.actuate;

import io.github.virtualthread.actuate.VirtualThreadsEndpoint.EndedDescriptor;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.Numbers;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a DELETE of the endpoint ends: one call, or all waiting calls. */
record Endings(TaskLimits limits, LiveCalls live) {

    private static final Logger logger = LoggerFactory.getLogger(VirtualThreadsEndpoint.class);

    /**
     * Ends one of them.
     *
     * @param limit null for calls without a limit
     * @throws IllegalArgumentException unless exactly one of them is given
     */
    EndedDescriptor end(@Nullable TaskLimit limit, @Nullable String id, @Nullable String all) {
        boolean evict = all != null && isTrue(all);
        List<String> sent = Stream.of(id == null ? null : "id", evict ? "all" : null)
                .flatMap(Stream::ofNullable)
                .toList();
        if (sent.size() > 1) {
            throw new IllegalArgumentException("%s were sent: send only one of them".formatted(sent));
        }
        if (id != null) {
            return cancel(limit, LimitRequest.whole("id", id, 1, Long.MAX_VALUE));
        }
        if (limit == null) {
            throw new IllegalArgumentException(
                    "Calls without a limit never wait; to cancel a running call, send its number as ?id=");
        }
        if (!evict) {
            throw new IllegalArgumentException(
                    "Nothing to end: send ?id= with the number of a call to cancel that call,"
                            + " or ?all=true to reject all waiting calls");
        }
        return evict(limit.name());
    }

    private EndedDescriptor evict(String limit) {
        int rejected = limits.evictWaiting(limit);
        String calls = Numbers.of(rejected, "waiting call");
        SafeLog.write(() -> logger.warn("Limit '{}': {} rejected by ENDPOINT", limit, calls));
        return new EndedDescriptor(limit, rejected, 0);
    }

    private EndedDescriptor cancel(@Nullable TaskLimit under, long id) {
        String limit = under == null ? LimitNames.NONE : under.name();
        LiveCall wanted = live.find(under, id)
                .orElseThrow(() -> new NoSuchElementException(
                        "No call %d is waiting or running under limit '%s'".formatted(id, limit)));
        String name = wanted.call().spec().name();
        boolean insisted = wanted.abandoned() && live.insist(wanted.call());
        if (wanted.abandoned() && !insisted) {
            throw new IllegalArgumentException(
                    "Call %d of %s has already ended; its body is still running and cannot be cancelled again"
                            .formatted(id, name));
        }
        if (!insisted && live.cancel(id).isEmpty()) {
            if (live.find(under, id).isEmpty()) {
                throw new NoSuchElementException("Call %d of %s has just ended".formatted(id, name));
            }
            throw new IllegalArgumentException(
                    "Call %d of %s uses its caller's own thread, which cannot be interrupted from outside"
                            .formatted(id, name));
        }
        SafeLog.write(() -> logger.info("Limit '{}': call {} of {} cancelled by ENDPOINT", limit, id, name));
        return new EndedDescriptor(limit, 0, 1);
    }

    private static boolean isTrue(String all) {
        boolean isTrue = all.strip().equalsIgnoreCase("true");
        if (!isTrue && !all.strip().equalsIgnoreCase("false")) {
            throw new IllegalArgumentException("all must be true or false, was '%s'".formatted(all));
        }
        return isTrue;
    }
}
