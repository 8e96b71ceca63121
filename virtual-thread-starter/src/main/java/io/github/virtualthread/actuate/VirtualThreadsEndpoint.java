package io.github.virtualthread.actuate;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimits;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Actuator endpoint that shows limits, methods and live calls, changes limits and ends calls. Changing needs
 * {@code management.endpoint.virtualthreads.access=unrestricted}.
 *
 * <p>Numbers are passed as text, so that the answer to any other text can say what is expected. No operation blocks. Over HTTP, a
 * parameter in the query or the body replaces a path variable of the same name. So the path variable has a name that no client sends.
 */
@Internal
@Endpoint(id = "virtualthreads", defaultAccess = Access.READ_ONLY)
// of fields of LimitDescriptor
@RegisterReflectionForBinding({PermitsFrom.class, VirtualThreadsEndpoint.ShadowDescriptor.class})
public final class VirtualThreadsEndpoint {

    private static final int MOST_CALLS = 10_000;
    private static final String DEFAULT_CALLS = "100";
    private static final int MOST_KEYS = 10;

    private final TaskLimits limits;
    private final Collection<AdvisedMethod> advised;
    private final LiveCalls live;
    private final Descriptors descriptors;

    /**
     * Creates an endpoint for one engine.
     *
     * @param limits limits of the application
     * @param engine knows the live calls
     * @param advised the advised methods, which may become more
     * @param counts how calls have ended
     * @param details what to show of live calls
     * @param self name of this replica, as others see it; asked only for a limit that all replicas share
     */
    public VirtualThreadsEndpoint(
            TaskLimits limits,
            TaskEngine engine,
            Collection<AdvisedMethod> advised,
            CallCounts counts,
            CallDetails details,
            Supplier<@Nullable String> self) {
        this.limits = limits;
        this.advised = advised;
        this.live = engine.liveCalls();
        this.descriptors = new Descriptors(limits, live, counts, details, self);
    }

    /**
     * Shows all limits and methods.
     *
     * @return their current state
     */
    @ReadOperation
    public VirtualThreadsDescriptor overview() {
        return descriptors.all(advised);
    }

    /**
     * Shows a limit and its live calls.
     *
     * @param limitInPath name of a limit, in any spelling of its uniform form; {@code none} for calls without a limit
     * @param max maximum number of calls to show, from 1 to 10000; null for 100
     * @param key key whose calls are shown, of the first 10000 that wait; null for all
     * @return their current state
     * @throws NoSuchElementException if there is no such limit; the message lists the configured limits
     * @throws IllegalArgumentException if {@code max} is not such a number, or if keys are not shown
     */
    @ReadOperation
    public LimitCallsDescriptor limit(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String max,
            @org.springframework.lang.Nullable @Nullable String key) {
        TaskLimit found = LimitNames.isNone(limitInPath) ? null : find(limitInPath);
        int most = LimitRequest.whole("max", max == null ? DEFAULT_CALLS : max, 1, MOST_CALLS);
        List<LiveCall> running = live.running(found);
        LimitDescriptor row = found == null ? null : descriptors.limit(found, running);
        if (key != null) {
            return ofKey(found, row, running, most, key);
        }
        List<LiveCall> shown = new ArrayList<>(running.subList(0, Math.min(most, running.size())));
        if (found != null) {
            shown.addAll(live.waiting(found, most - shown.size()));
        }
        int all = running.size() + (found == null ? 0 : found.waiting());
        List<KeyUse> busiest =
                found == null || !descriptors.details().keys() ? List.of() : found.busiestKeys(MOST_KEYS);
        return calls(row, descriptors.members(found), busiest, shown, all);
    }

    private LimitCallsDescriptor ofKey(
            @Nullable TaskLimit limit, @Nullable LimitDescriptor row, List<LiveCall> running, int most, String key) {
        if (!descriptors.details().keys()) {
            throw new IllegalArgumentException(
                    "Keys are not shown: set virtual-thread.endpoint.keys to true to see the calls of one key");
        }
        if (limit == null) {
            throw new IllegalArgumentException("Only calls under a limit are shown by key: name a limit, not 'none'");
        }
        List<LiveCall> shown = Stream.concat(running.stream(), live.waiting(limit, MOST_CALLS).stream())
                .filter(each -> key.equals(each.call().key())
                        && limit.equals(each.call().spec().limit()))
                .limit(most)
                .toList();
        KeyUse use = limit.key(key);
        return calls(row, descriptors.members(limit), List.of(use), shown, use.running() + use.waiting());
    }

    private LimitCallsDescriptor calls(
            @Nullable LimitDescriptor row,
            @Nullable List<MemberDescriptor> members,
            List<KeyUse> keys,
            List<LiveCall> shown,
            int all) {
        return new LimitCallsDescriptor(
                row,
                members,
                keys.isEmpty() ? null : keys,
                shown.stream().map(descriptors::call).toList(),
                Math.max(0, all - shown.size()));
    }

    /**
     * Changes a limit; all given values change together. The change is logged.
     *
     * @param limitInPath name of a limit, in any spelling of its uniform form
     * @param permits number of permits, at least 1; null to keep it
     * @param queueCapacity maximum number of waiting calls, at least 0, or {@code unbounded}; null to keep it
     * @param maxWait maximum wait, such as {@code 2s}, or {@code none}; null to keep it
     * @param permitsPerKey maximum number of calls of one key that run at once, at least 1, or {@code unbounded}; null to keep it
     * @param queueCapacityPerKey maximum number of waiting calls of one key, at least 0, or {@code unbounded}; null to keep it
     * @param clusterPermits maximum number of concurrent calls in all replicas together, at least 1; null to keep it
     * @param dryRun {@code true} if the limit only watches, {@code false} if it is in force; null to keep it
     * @return the limit after the change
     * @throws NoSuchElementException if there is no such limit; the message lists the configured limits
     * @throws IllegalArgumentException if nothing is given, or an invalid value; then nothing is changed
     */
    @WriteOperation
    public LimitDescriptor change(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String permits,
            @org.springframework.lang.Nullable @Nullable String queueCapacity,
            @org.springframework.lang.Nullable @Nullable String maxWait,
            @org.springframework.lang.Nullable @Nullable String permitsPerKey,
            @org.springframework.lang.Nullable @Nullable String queueCapacityPerKey,
            @org.springframework.lang.Nullable @Nullable String clusterPermits,
            @org.springframework.lang.Nullable @Nullable String dryRun) {
        TaskLimit found = find(limitInPath);
        Map<LimitNumber, @Nullable String> texts = new LinkedHashMap<>();
        texts.put(LimitNumber.PERMITS, permits);
        texts.put(LimitNumber.QUEUE_CAPACITY, queueCapacity);
        texts.put(LimitNumber.MAX_WAIT, maxWait);
        texts.put(LimitNumber.PERMITS_PER_KEY, permitsPerKey);
        texts.put(LimitNumber.QUEUE_CAPACITY_PER_KEY, queueCapacityPerKey);
        texts.put(LimitNumber.CLUSTER_PERMITS, clusterPermits);
        texts.put(LimitNumber.DRY_RUN, dryRun);
        limits.change(found, new LimitRequest(texts)::applyTo, Source.ENDPOINT);
        return descriptors.limit(found, live.running(found));
    }

    /**
     * Cancels one call, or rejects all waiting calls. This is logged.
     *
     * @param limitInPath name of a limit, in any spelling of its uniform form; {@code none} for calls without a limit
     * @param id number of the call to cancel; null to cancel none
     * @param all {@code true} to reject all waiting calls, with reason {@code EVICTED}; null or {@code false} to reject none
     * @return what was ended
     * @throws NoSuchElementException if there is no such limit, or no such call under it
     * @throws IllegalArgumentException if none or several are given, if {@code id} is not a number, or is the number of a call
     *     that cannot be cancelled
     */
    @DeleteOperation
    public EndedDescriptor end(
            @Selector String limitInPath,
            @org.springframework.lang.Nullable @Nullable String id,
            @org.springframework.lang.Nullable @Nullable String all) {
        return new Endings(limits, live).end(LimitNames.isNone(limitInPath) ? null : find(limitInPath), id, all);
    }

    private TaskLimit find(String limit) {
        try {
            return limits.get(limit);
        } catch (IllegalArgumentException unknown) {
            throw new NoSuchElementException(unknown.getMessage(), unknown);
        }
    }

    /**
     * All limits and methods at one moment.
     *
     * @param limits every limit, in alphabetical order
     * @param methods every annotated method, and every name called by hand, in alphabetical order
     */
    public record VirtualThreadsDescriptor(List<LimitDescriptor> limits, List<MethodDescriptor> methods)
            implements OperationResponseBody {}

    /**
     * A limit with its calls.
     *
     * @param limit the limit, null for calls without one
     * @param members the replicas that share the limit, in the order of their names; null for a limit of this JVM alone
     * @param keys the ten keys with most calls, or the key that was asked for; null if keys are not shown, or none has calls
     * @param calls running calls, the oldest first, then waiting calls, the one that has waited longest first
     * @param more number of further running or waiting calls that are not shown
     */
    public record LimitCallsDescriptor(
            @Nullable LimitDescriptor limit,
            @Nullable List<MemberDescriptor> members,
            @Nullable List<KeyUse> keys,
            List<CallDescriptor> calls,
            int more)
            implements OperationResponseBody {}

    /**
     * A limit at one moment, by the names of its fields; none of them is null. It begins with {@code name}, {@code within},
     * {@code occupied} and the {@linkplain LimitNumber settings} that are shown. Counts start with the application.
     *
     * <p>Of a limit that all replicas share, it has:
     *
     * <ul>
     *   <li>{@code clusterPermitsInForce}: maximum number of concurrent calls in all replicas as it is in force, if that is less
     *   <li>{@code heldBackBy}: replicas that say so, by their names, if there are any
     *   <li>{@code share}: permits that this replica may use at this moment
     *   <li>{@code kept}: permits that are lent to nobody: parts of replicas that may run without the engine
     *   <li>{@code keptFor}: number of replicas that they are kept for
     *   <li>{@code members}: number of replicas that share the limit, with this one
     *   <li>{@code leaseSeconds}: time for which the permits are still lent; 0 if they are not
     *   <li>{@code lending}: {@code LENT}; {@code ALONE} if this replica uses its part of the permits; {@code LOST} if no call begins
     * </ul>
     *
     * <p>Of each limit, it has:
     *
     * <ul>
     *   <li>{@code occupied}: true while the application keeps it occupied
     *   <li>{@code permitsFrom}: the pool that the permits are taken from, if they are
     *   <li>{@code inUse}: permits that are held; more than {@code permits} after a reduction, until calls end
     *   <li>{@code available}: free permits
     *   <li>{@code waiting}: number of waiting calls, without those of limits within this one
     *   <li>{@code waitingWithin}: number of waiting calls of each limit within this one, if there is one
     *   <li>{@code keys}: number of keys that have calls, if calls may have keys
     *   <li>{@code saturatedForSeconds}: time for which it has been full without a break; 0 if it is not full
     *   <li>{@code expectedWaitSeconds}: time that one more call without a key would wait, if that is known and the limit rejects
     *       hopeless calls
     *   <li>{@code oldestRunningSeconds}: run time of the oldest running body, if one is running
     *   <li>{@code oldestWaitingSeconds}: wait of the oldest waiting call, if one is waiting
     *   <li>{@code abandoned}: permits held by bodies whose call has already ended, by cancel or timeout
     *   <li>{@code rejected}: number of rejected calls, by reason
     *   <li>{@code mostInUse}: number of calls that ran at once in the dry run, at most
     *   <li>{@code dryRun}: in a dry run, what the limit would have done with half of its permits, with these and with twice as many
     * </ul>
     */
    public static final class LimitDescriptor extends LinkedHashMap<String, Object> implements OperationResponseBody {

        @Serial
        private static final long serialVersionUID = 1;

        LimitDescriptor() {}

        /** Null is left out. */
        void add(String name, @Nullable Object value) {
            if (value != null) {
                put(name, value);
            }
        }
    }

    /**
     * What a limit that only watches would have done to its calls with one number of permits.
     *
     * @param permits number of permits
     * @param calls number of calls that came
     * @param waitedPart part of them that would have waited, from 0 to 1
     * @param medianWaitSeconds wait that half of those that would have begun did not exceed
     * @param p99WaitSeconds wait that 99 % of them did not exceed
     * @param longestWaitSeconds longest wait of them
     * @param rejected number of calls that would have been rejected, at once or later
     * @param mostWaiting number of calls that would have waited at once, at most
     * @param beyond number of calls that came while 100,000 waited, and were left out; null for none
     */
    public record ShadowDescriptor(
            int permits,
            long calls,
            double waitedPart,
            double medianWaitSeconds,
            double p99WaitSeconds,
            double longestWaitSeconds,
            long rejected,
            int mostWaiting,
            @Nullable Long beyond) {}

    /**
     * A replica that shares a limit, as the engine has said last.
     *
     * @param name its name
     * @param self true for the replica that answers, otherwise null
     * @param holds permits that it may use
     * @param wants number of its calls that run and wait
     * @param permits maximum number of concurrent calls in all replicas together, as it is configured
     * @param secondsWanting how long it has wanted more than it holds, or since its last turn; null if it does not
     * @param secondsSinceClaim how long ago it claimed
     */
    public record MemberDescriptor(
            String name,
            @Nullable Boolean self,
            int holds,
            int wants,
            int permits,
            @Nullable Double secondsWanting,
            double secondsSinceClaim) {}

    /**
     * The calls of one name and limit. Counts start with the application.
     *
     * @param name name of the tasks: {@code Class.method}, or what the annotation says
     * @param limit name of the limit, {@code "none"} without one
     * @param timeoutSeconds maximum run time, null for none and for calls by hand; if several methods share name and limit,
     *     that of the first
     * @param deadlineSeconds time for wait and run together, null for none; of the same method as {@code timeoutSeconds}
     * @param active number of running bodies
     * @param done number of successful calls
     * @param failed number of calls that failed, timed out or were cancelled
     * @param rejected number of rejected calls, which never ran
     */
    public record MethodDescriptor(
            String name,
            String limit,
            @Nullable Double timeoutSeconds,
            @Nullable Double deadlineSeconds,
            long active,
            long done,
            long failed,
            long rejected) {}

    /**
     * One waiting or running call.
     *
     * @param id number of the call, used to cancel it
     * @param method name of its task
     * @param state {@code running} or {@code waiting}
     * @param abandoned whether the body is still running although its call has ended, by cancel or timeout
     * @param ageSeconds run time of the body, or wait of the call
     * @param key key of the call, null if it has none or keys are not shown
     * @param thread name of the thread of the body, null while the call waits
     * @param traceId value of {@code traceId} in the caller's MDC, null if it has none
     * @param mdc values of the chosen keys in the caller's MDC; empty for a call on its caller's own thread
     * @param statement beginning of the SQL that the body waits for, at most 100 characters; null if it waits for none, or if
     *     SQL is not shown
     * @param stack stack of the body, the innermost frame first: at most 20 frames, with a line that counts those omitted in
     *     between; null while the call waits
     */
    public record CallDescriptor(
            long id,
            String method,
            String state,
            boolean abandoned,
            double ageSeconds,
            @Nullable String key,
            @Nullable String thread,
            @Nullable String traceId,
            Map<String, String> mdc,
            @Nullable String statement,
            @Nullable List<String> stack) {}

    /**
     * Result of a DELETE.
     *
     * @param limit name of the limit, {@code none} for calls without one
     * @param rejected number of waiting calls that were rejected
     * @param cancelled number of calls that were cancelled
     */
    public record EndedDescriptor(String limit, int rejected, int cancelled) implements OperationResponseBody {}
}
