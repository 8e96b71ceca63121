package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * All limits of an application, by name. Thread-safe.
 *
 * <p>Names are compared in their uniform form: {@code price-db} and {@code priceDb} are one limit.
 */
public final class TaskLimits {

    private final Map<String, SemaphoreLimit> limits = new ConcurrentHashMap<>();

    private final TaskTimer timer;
    private final Consumer<LimitChange> changes;

    /**
     * The limits that the settings declare.
     *
     * @param settings one for each limit
     * @param timer ends the waiting of calls under limits with a longest wait
     * @param changes told of each change, by the thread that makes it
     * @throws IllegalArgumentException if two of them have the same name
     */
    public TaskLimits(Collection<LimitSettings> settings, TaskTimer timer, Consumer<LimitChange> changes) {
        this.timer = timer;
        this.changes = changes;
        for (LimitSettings each : settings) {
            SemaphoreLimit present = limits.put(LimitNames.uniform(each.name()), create(each));
            if (present != null) {
                throw new IllegalArgumentException(
                        "Limit '%s' is declared twice, also as '%s'".formatted(each.name(), present.name()));
            }
        }
    }

    private SemaphoreLimit create(LimitSettings settings) {
        return new SemaphoreLimit(settings, timer, changes);
    }

    /**
     * Makes a limit, where there is none of that name.
     *
     * @param settings what it is
     * @return whether there was none
     */
    public boolean add(LimitSettings settings) {
        return limits.putIfAbsent(LimitNames.uniform(settings.name()), create(settings)) == null;
    }

    /**
     * Changes a limit. Does not block.
     *
     * @param limit one of these limits
     * @param change makes the new settings of the present ones, with the same name; applied again if somebody else changes
     *     the limit meanwhile. What it throws is thrown, and nothing is changed then
     * @param by who changes it
     */
    public void change(TaskLimit limit, UnaryOperator<LimitSettings> change, Source by) {
        ((SemaphoreLimit) limit).change(change, by);
    }

    /**
     * Gives a limit the permits of its pool, for the first time. Nobody is told, since the limit was never another.
     *
     * @param limit one of these limits
     * @param permits maximum number of calls that run at once, at least 1
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public void begin(TaskLimit limit, int permits) {
        ((SemaphoreLimit) limit).begin(permits);
    }

    /**
     * The limit of that name.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return the limit
     * @throws IllegalArgumentException if there is none; the message lists those there are
     */
    public TaskLimit get(String name) {
        return find(name);
    }

    private SemaphoreLimit find(String name) {
        SemaphoreLimit limit = limits.get(LimitNames.uniform(name));
        if (limit == null) {
            throw new IllegalArgumentException(
                    "No limit '%s' is configured; the configured limits are %s".formatted(name, names()));
        }
        return limit;
    }

    /**
     * Whether there is a limit of that name.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return whether {@link #get} finds it
     */
    public boolean contains(String name) {
        return limits.containsKey(LimitNames.uniform(name));
    }

    /**
     * All limits.
     *
     * @return unmodifiable, in alphabetical order of their names
     */
    public List<TaskLimit> all() {
        return limits.values().stream()
                .map(TaskLimit.class::cast)
                .sorted(Comparator.comparing(TaskLimit::name))
                .toList();
    }

    /**
     * Names of all limits, as they were declared.
     *
     * @return unmodifiable, in alphabetical order
     */
    public List<String> names() {
        return all().stream().map(TaskLimit::name).toList();
    }

    /**
     * Shows a limit from now on as this name spells it.
     *
     * @param name another spelling of the name of a limit; nothing happens where there is no such limit
     */
    public void showAs(String name) {
        SemaphoreLimit limit = limits.get(LimitNames.uniform(name));
        if (limit != null) {
            limit.spell(name);
        }
    }

    /**
     * Rejects every call that waits under one limit, with reason {@code EVICTED}. Does not block.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return how many were rejected
     * @throws IllegalArgumentException if there is no such limit
     */
    public int evictWaiting(String name) {
        return find(name).evict(Reason.EVICTED);
    }

    /**
     * Rejects every call that waits, with reason {@code SHUTDOWN}. Does not block.
     */
    public void rejectWaiting() {
        limits.values().forEach(limit -> limit.evict(Reason.SHUTDOWN));
    }
}
