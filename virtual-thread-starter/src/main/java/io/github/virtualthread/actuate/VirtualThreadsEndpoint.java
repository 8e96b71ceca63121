package io.github.virtualthread.actuate;

import io.github.virtualthread.config.AdvisedMethods;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Actuator endpoint that shows limits, methods and live calls, changes limits and ends calls. Changing needs
 * {@code management.endpoint.virtualthreads.access=unrestricted}.
 *
 * <p>Numbers come as text, so that whoever sends something else is told what is wanted. No operation blocks.
 */
@Endpoint(id = "virtualthreads", defaultAccess = Access.READ_ONLY)
public final class VirtualThreadsEndpoint {

    private static final Logger logger = LoggerFactory.getLogger(VirtualThreadsEndpoint.class);

    private static final int MOST_CALLS = 10_000;
    private static final String DEFAULT_CALLS = "100";

    private final TaskLimits limits;
    private final AdvisedMethods advised;
    private final LiveCalls live;
    private final States states;
    private final List<String> mdcKeys;

    /**
     * An endpoint of one engine.
     *
     * @param limits limits of the application
     * @param engine has the live calls
     * @param advised the advised methods
     * @param counts how calls have ended
     * @param mdcKeys keys of the callers' MDC that are shown of live calls
     */
    public VirtualThreadsEndpoint(
            TaskLimits limits,
            TaskEngine engine,
            AdvisedMethods advised,
            CallCounts counts,
            Collection<String> mdcKeys) {
        this.limits = limits;
        this.advised = advised;
        this.live = engine.liveCalls();
        this.states = new States(limits, live, counts);
        this.mdcKeys = List.copyOf(mdcKeys);
    }

    /**
     * Shows all limits and methods.
     *
     * @return what they are at this moment
     */
    @ReadOperation
    public Overview overview() {
        return states.all(advised.all());
    }

    /**
     * Shows a limit and its live calls.
     *
     * @param limit name of a limit, in any spelling of its uniform form; {@code none} for calls without a limit
     * @param max most calls to show, from 1 to 10000; null for 100
     * @return what they are at this moment
     * @throws NoSuchElementException if there is no such limit; the message lists those there are
     * @throws IllegalArgumentException if {@code max} is no such number
     */
    @ReadOperation
    public LimitCalls limit(@Selector String limit, @org.springframework.lang.Nullable @Nullable String max) {
        TaskLimit found = isNone(limit) ? null : find(limit);
        int most = Numbers.whole("max", max == null ? DEFAULT_CALLS : max, 1, MOST_CALLS);
        List<LiveCall> running = live.running(limit);
        List<LiveCall> shown = new ArrayList<>(running.subList(0, Math.min(most, running.size())));
        if (found != null) {
            shown.addAll(live.waiting(limit, most - shown.size()));
        }
        int all = running.size() + (found == null ? 0 : found.waiting());
        return new LimitCalls(
                found == null ? null : states.state(found, running),
                shown.stream().map(call -> CallState.of(call, mdcKeys)).toList(),
                Math.max(0, all - shown.size()));
    }

    /**
     * Changes a limit, all that is given at once. The log tells it.
     *
     * @param limit name of a limit, in any spelling of its uniform form
     * @param permits number of permits, at least 1; null to leave it
     * @param queueCapacity most calls that may wait, at least 0, or {@code unbounded}; null to leave it
     * @param maxWait longest wait, such as {@code 2s}, or {@code none} for any time; null to leave it
     * @return the limit as it is now
     * @throws NoSuchElementException if there is no such limit; the message lists those there are
     * @throws IllegalArgumentException if nothing is given, or something that cannot be; nothing is changed then
     */
    @WriteOperation
    public LimitState change(
            @Selector String limit,
            @org.springframework.lang.Nullable @Nullable String permits,
            @org.springframework.lang.Nullable @Nullable String queueCapacity,
            @org.springframework.lang.Nullable @Nullable String maxWait) {
        TaskLimit found = find(limit);
        LimitRequest request = LimitRequest.of(permits, queueCapacity, maxWait);
        limits.change(limit, request::applyTo, Source.ENDPOINT);
        return states.state(found, live.running(limit));
    }

    /**
     * Cancels one call, or rejects all that wait. The log tells it.
     *
     * @param limit name of a limit, in any spelling of its uniform form; {@code none} for calls without a limit
     * @param id number of the call to cancel; null to cancel none
     * @param all {@code true} to reject all calls that wait, with reason {@code EVICTED}; null or {@code false} to reject none
     * @return how many were ended
     * @throws NoSuchElementException if there is no such limit, or no such call under it
     * @throws IllegalArgumentException if nothing or both is asked for, or if {@code id} is not a number, or the number of a
     *     call that cannot be cancelled
     */
    @DeleteOperation
    public Ended end(
            @Selector String limit,
            @org.springframework.lang.Nullable @Nullable String id,
            @org.springframework.lang.Nullable @Nullable String all) {
        String name = isNone(limit) ? LimitNames.NONE : find(limit).name();
        boolean evict = all != null && isTrue(all);
        if (id != null && evict) {
            throw new IllegalArgumentException("Both id and all are given: send one of them");
        }
        if (id != null) {
            cancel(name, Numbers.whole("id", id, 1, Long.MAX_VALUE));
            return new Ended(name, 0, 1);
        }
        if (isNone(name)) {
            throw new IllegalArgumentException(
                    "Calls without a limit never wait; to cancel one that runs, give its number as ?id=");
        }
        if (!evict) {
            throw new IllegalArgumentException(
                    "Nothing to end: send ?id= with the number of a call to cancel that call,"
                            + " or ?all=true to reject all calls that wait");
        }
        int rejected = limits.evictWaiting(name);
        String calls = rejected == 1 ? "call" : "calls";
        SafeLog.write(() -> logger.warn("Limit '{}': {} waiting {} rejected by ENDPOINT", name, rejected, calls));
        return new Ended(name, rejected, 0);
    }

    private void cancel(String limit, long id) {
        LiveCall wanted = live.find(limit, id)
                .orElseThrow(() ->
                        new NoSuchElementException("No call %d waits or runs under limit '%s'".formatted(id, limit)));
        String name = wanted.call().spec().name();
        if (wanted.abandoned()) {
            throw new IllegalArgumentException(
                    "Call %d of %s has ended already; its body still runs, and ends by itself".formatted(id, name));
        }
        Optional<TaskCall> cancelled = live.cancel(id);
        if (cancelled.isEmpty() && live.find(limit, id).isPresent()) {
            throw new IllegalArgumentException(
                    "Call %d of %s is on its caller's own thread, which cannot be interrupted from outside"
                            .formatted(id, name));
        }
        if (cancelled.isEmpty()) {
            throw new NoSuchElementException("Call %d of %s has just ended".formatted(id, name));
        }
        SafeLog.write(() -> logger.info("Limit '{}': call {} of {} cancelled by ENDPOINT", limit, id, name));
    }

    private static boolean isTrue(String all) {
        return switch (all.strip().toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("all must be true or false, was '%s'".formatted(all));
        };
    }

    private TaskLimit find(String limit) {
        if (!limits.contains(limit)) {
            throw new NoSuchElementException(
                    "No limit '%s' is configured; the configured limits are %s".formatted(limit, limits.names()));
        }
        return limits.get(limit);
    }

    private static boolean isNone(String limit) {
        return LimitNames.uniform(limit).equals(LimitNames.NONE);
    }
}
