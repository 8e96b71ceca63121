package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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
     * @throws IllegalArgumentException if two of them have the same name, if one lies within a limit that does not exist, or
     *     if they lie within each other
     */
    @Internal // public for those who make an engine, who have its timer
    public TaskLimits(Collection<LimitSettings> settings, TaskTimer timer, Consumer<LimitChange> changes) {
        this.timer = timer;
        this.changes = changes;
        List<LimitSettings> left = new ArrayList<>(settings);
        boolean made = true;
        while (made) { // each with the lock of the one around it, so that one comes first
            made = left.removeIf(each -> (each.within() == null || contains(each.within())) && add(each));
        }
        if (!left.isEmpty()) {
            throw new IllegalArgumentException(
                    "Limits must neither be declared twice, nor lie within each other or within limits that do not exist: %s"
                            .formatted(left));
        }
    }

    private @Nullable SemaphoreLimit around(LimitSettings settings) {
        SemaphoreLimit around = settings.within() == null ? null : limits.get(LimitNames.uniform(settings.within()));
        if (around == null && settings.within() != null) {
            throw new IllegalArgumentException("Limit '%s' lies within '%s', but no limit of that name is configured"
                    .formatted(settings.name(), settings.within()));
        }
        if (around != null && around.isDryRun()) {
            throw new IllegalArgumentException(
                    "Limit '%s' lies within '%s', whose dry-run must be false then, because a dry run watches one queue"
                            .formatted(settings.name(), settings.within()));
        }
        return around;
    }

    /**
     * Adds a limit, if none of that name exists.
     *
     * @param settings settings of the limit
     * @return whether it was added
     * @throws IllegalArgumentException if it lies within a limit that does not exist
     */
    public boolean add(LimitSettings settings) {
        boolean[] added = new boolean[1];
        limits.computeIfAbsent(LimitNames.uniform(settings.name()), name -> {
            added[0] = true;
            // only if it is used: the limit around it would keep it
            return new SemaphoreLimit(settings, around(settings), timer, changes);
        });
        return added[0];
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
     * Changes the permits of a limit without a report: its pool has been read for the first time, or {@code adapt} has found another
     * number.
     *
     * @param limit one of these limits
     * @param permits makes the new number of the present one; applied again if somebody else changes the limit at the same time
     * @throws IllegalArgumentException if the number is out of its range
     */
    @Internal
    public void adjust(TaskLimit limit, IntUnaryOperator permits) {
        ((SemaphoreLimit) limit).adjust(permits);
    }

    /**
     * Returns the limit of a name.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return the limit
     * @throws IllegalArgumentException if it does not exist; the message lists the existing ones
     */
    public TaskLimit get(String name) {
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
     * Returns the limits that lie within another one, at any depth.
     *
     * @param around one of these limits
     * @return unmodifiable, in alphabetical order of their names, without that one
     */
    public List<TaskLimit> within(TaskLimit around) {
        return all().stream()
                .filter(each -> !each.equals(around) && each.includes(around))
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
    @Internal
    public void showAs(String name) {
        SemaphoreLimit limit = limits.get(LimitNames.uniform(name));
        if (limit != null) {
            limit.name = name;
        }
    }

    /**
     * Rejects every call that waits under one limit, with reason {@code EVICTED}. Does not block.
     *
     * @param name name of a limit, in any spelling of its uniform form
     * @return how many were rejected
     * @throws IllegalArgumentException if the limit does not exist
     * @throws OutOfMemoryError if there is no memory to report the rejections. No call waits any more then; the rejections are
     *     reported with the next ones, or when this is called again
     */
    public int evictWaiting(String name) {
        return ((SemaphoreLimit) get(name)).admission.evict(Reason.EVICTED);
    }

    /**
     * Rejects every call that waits, with reason {@code SHUTDOWN}. Does not block. If memory is short, they
     * stay unreported.
     */
    @Internal
    public void rejectWaiting() {
        for (SemaphoreLimit each : limits.values()) {
            try {
                each.admission.evict(Reason.SHUTDOWN);
            } catch (OutOfMemoryError shortage) {
                // the calls have left the queue and stay unreported
            }
        }
    }
}
