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
     * Creates the limits that the settings declare.
     *
     * @param settings one for each limit
     * @param timer ends the wait of calls under limits with a maximum wait
     * @param changes called for each change, on the thread that makes it
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
     * Adds a limit, if none of that name exists.
     *
     * @param settings settings of the limit
     * @return whether it was added
     */
    public boolean add(LimitSettings settings) {
        return limits.putIfAbsent(LimitNames.uniform(settings.name()), create(settings)) == null;
    }

    /**
     * Changes a limit. Does not block.
     *
     * @param limit one of these limits
     * @param change makes the new settings of the present ones, with the same name; applied again if somebody else changes
     *     the limit at the same time. If it throws, nothing is changed
     * @param by who changes the limit
     */
    public void change(TaskLimit limit, UnaryOperator<LimitSettings> change, Source by) {
        ((SemaphoreLimit) limit).change(change, by);
    }

    /**
     * Gives a limit the permits of its pool for the first time. This is not a change that is reported.
     *
     * @param limit one of these limits
     * @param permits maximum number of calls that run at once, at least 1
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public void begin(TaskLimit limit, int permits) {
        ((SemaphoreLimit) limit).begin(permits);
    }

    /**
     * Returns the limit of a name.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return the limit
     * @throws IllegalArgumentException if it does not exist; the message lists the existing ones
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
     * Whether a limit of that name exists.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return whether {@link #get} finds it
     */
    public boolean contains(String name) {
        return limits.containsKey(LimitNames.uniform(name));
    }

    /**
     * Returns all limits.
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
     * Returns the names of all limits, as they are shown.
     *
     * @return unmodifiable, in alphabetical order
     */
    public List<String> names() {
        return all().stream().map(TaskLimit::name).toList();
    }

    /**
     * Shows a limit under this spelling of its name from now on.
     *
     * @param name another spelling of the name of a limit; nothing happens if the limit does not exist
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
     * @throws IllegalArgumentException if the limit does not exist
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
