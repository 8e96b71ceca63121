package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one limit. A bean of this type declares a limit without Spring Boot; the properties under
 * {@code virtual-thread.limits} do the same.
 *
 * @param name name used in {@code @VirtualThread("name")}: letters, digits, {@code -}, {@code _} and {@code .}; not
 *     {@code none}
 * @param permits maximum number of calls that run at once, at least 1; if the permits come from a pool, its size when it was
 *     last read, and 1 before that
 * @param queueCapacity maximum number of calls that wait, at least 0; {@link #UNBOUNDED} for no maximum
 * @param maxWait maximum wait, more than zero; null for no maximum
 * @param nested what happens to a task submitted under the same limit by a body that holds one of its permits
 * @param permitsFrom pool that the permits are taken from, null if the number is configured directly
 * @param within name of the limit around this one: a call needs a permit of both; null for none
 * @param permitsPerKey maximum number of calls of one key that run at once, at least 1; {@link #UNBOUNDED} for no maximum
 * @param queueCapacityPerKey maximum number of calls of one key that wait, at least 0; {@link #UNBOUNDED} for no maximum
 * @param clusterPermits maximum number of calls that run at once in all replicas of the application together, at least 1, and
 *     not below {@code permits} unless these come from a pool; null for a limit of this JVM alone
 * @param onFailure what calls do while no permits can be lent; null for what the cluster is configured with
 * @param rejectHopeless whether a call waits for at most half of what was left before its deadline when it was made; a limit with
 *     {@code adapt} does so in any case
 * @param keyWeights how many calls of a key get a permit for each call of a key of weight 1, from 0.1 to 10, by key; keys that
 *     are not named have weight 1, or that of a {@link KeyWeight}
 * @param adapt how the limit finds its number of permits, beginning with {@code permits}; null if the number stays
 * @param dryRun whether the limit only watches: every call begins at once, and {@link TaskLimit#dryRun()} says what would have
 *     happened otherwise
 */
public record LimitSettings(
        String name,
        int permits,
        int queueCapacity,
        @Nullable Duration maxWait,
        Nested nested,
        @Nullable PermitsFrom permitsFrom,
        @Nullable String within,
        int permitsPerKey,
        int queueCapacityPerKey,
        @Nullable Integer clusterPermits,
        @Nullable OnFailure onFailure,
        boolean rejectHopeless,
        Map<String, Double> keyWeights,
        @Nullable Adapt adapt,
        boolean dryRun)
        implements Serializable { // as a part of LimitExceededException

    /**
     * What happens to a {@code @VirtualThread} call, or a task, from a body that holds a permit of the same limit or of one
     * around it, when no permit is free. A call on the thread of the body needs no permit of its own. A call that the body cannot
     * wait for, such as that of a {@code void} method, waits like any other.
     */
    public enum Nested {
        /** It waits like any other call. That can be forever, if all permits are held by such callers. Logged once. */
        WARN,
        /** It is rejected at once. */
        FAIL
    }

    /** What calls do if a limit is shared by all replicas and this one has not reached the engine for the time of a lease. */
    public enum OnFailure {
        /** They run under this replica's part of the permits: an equal one for each of the replicas that it has seen last. */
        LOCAL_SHARE,
        /** They wait until the engine is reached; the maximum wait counts. */
        WAIT,
        /** New ones are rejected with reason {@code NO_LEASE}; those that wait already go on waiting. */
        REJECT
    }

    /**
     * How a limit finds its number of permits.
     *
     * @param least lowest number of permits, at least 1
     * @param most highest number of permits
     * @param runTime time that at least half of the runs should not exceed: 1.5 times what a run takes while the resource is idle
     */
    public record Adapt(int least, int most, Duration runTime) implements Serializable {

        /** Requires a time. {@link LimitSettings} checks the numbers, because it can name the limit. */
        public Adapt {
            Objects.requireNonNull(runTime, "runTime");
        }
    }

    /** Lowest weight of a key. */
    public static final double LEAST_WEIGHT = 0.1;

    /** Highest weight of a key. */
    public static final double MOST_WEIGHT = 10;

    /** Value of a number that has no maximum: of {@link #queueCapacity()}, and of the two for each key. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the limit and every value that is out of its range
     */
    @Internal
    public LimitSettings {
        Objects.requireNonNull(name, "name");
        List<String> problems = new ArrayList<>();
        if (!LimitNames.isAllowed(name)) {
            problems.add(LimitNames.RULE + ", was '" + name + "'");
        } else if (LimitNames.isNone(name)) {
            problems.add("the name 'none' is reserved for calls without a limit");
        }
        check(LimitNumber.PERMITS, permits, problems);
        check(LimitNumber.QUEUE_CAPACITY, queueCapacity, problems);
        check(
                LimitNumber.MAX_WAIT,
                maxWait,
                " (to reject calls instead of letting them wait, set queue-capacity to 0)",
                problems);
        check(LimitNumber.HEADROOM, permitsFrom == null ? null : permitsFrom.headroom(), problems);
        if (within != null && within.isBlank()) {
            problems.add("within must name a limit, was blank");
        }
        check(LimitNumber.PERMITS_PER_KEY, permitsPerKey, problems);
        check(LimitNumber.QUEUE_CAPACITY_PER_KEY, queueCapacityPerKey, problems);
        check(LimitNumber.CLUSTER_PERMITS, clusterPermits, problems);
        if (clusterPermits != null && clusterPermits > 0 && permitsFrom == null && permits > clusterPermits) {
            problems.add("permits must be at most cluster-permits (%d), because one replica can never use more, was %d"
                    .formatted(clusterPermits, permits));
        }
        keyWeights = Map.copyOf(keyWeights);
        keyWeights.forEach((key, weight) -> {
            if (!isWeight(weight)) {
                problems.add("key-weights must be from 0.1 to 10, was %s for '%s'".formatted(weight, key));
            }
        });
        if (adapt != null) {
            check(adapt, permits, permitsFrom == null && clusterPermits == null, problems);
        }
        if (dryRun) {
            List<String> unwatched = new ArrayList<>();
            addIf(within != null, LimitNumber.WITHIN, unwatched);
            addIf(permitsPerKey != UNBOUNDED, LimitNumber.PERMITS_PER_KEY, unwatched);
            addIf(queueCapacityPerKey != UNBOUNDED, LimitNumber.QUEUE_CAPACITY_PER_KEY, unwatched);
            addIf(!keyWeights.isEmpty(), LimitNumber.KEY_WEIGHTS, unwatched);
            addIf(clusterPermits != null, LimitNumber.CLUSTER_PERMITS, unwatched);
            addIf(adapt != null, LimitNumber.ADAPT, unwatched);
            if (!unwatched.isEmpty()) {
                problems.add(
                        "dry-run must be false with %s, because a dry run watches one queue with one number of permits"
                                .formatted(String.join(", ", unwatched)));
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("Limit '%s': %s".formatted(name, String.join("; ", problems)));
        }
    }

    private static void check(Adapt adapt, int permits, boolean isOwnNumber, List<String> problems) {
        if (adapt.least() < 1) {
            problems.add("adapt.least must be at least 1, was %d".formatted(adapt.least()));
        }
        if (!adapt.runTime().isPositive()) {
            problems.add("adapt.run-time must be longer than zero, as 1.5 times what an idle resource needs");
        }
        if (permits < adapt.least() || permits > adapt.most()) {
            problems.add("permits must be from adapt.least to adapt.most, which is from %d to %d, was %d"
                    .formatted(adapt.least(), adapt.most(), permits));
        }
        if (!isOwnNumber) {
            problems.add(
                    "adapt finds the number of permits, so there must be neither permits-from nor cluster-permits");
        }
    }

    private static void check(LimitNumber number, @Nullable Object value, List<String> problems) {
        check(number, value, "", problems);
    }

    /**
     * Adds what is wrong with a value.
     *
     * @param hint what to do instead, empty if that is clear
     */
    private static void check(LimitNumber number, @Nullable Object value, String hint, List<String> problems) {
        String problem = number.problem(value);
        if (problem != null) {
            problems.add(problem + hint);
        }
    }

    private static void addIf(boolean isSet, LimitNumber number, List<String> keys) {
        if (isSet) {
            keys.add(number.key());
        }
    }

    static boolean isWeight(double weight) {
        return weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT;
    }

    /**
     * Settings of a limit where any number of calls may wait for any time.
     *
     * @param name name of the limit
     * @param permits maximum number of calls that run at once, at least 1
     * @return settings
     * @throws IllegalArgumentException if the name is not allowed or {@code permits} is below 1
     */
    public static LimitSettings of(String name, int permits) {
        return new LimitSettings(
                name,
                permits,
                UNBOUNDED,
                null,
                Nested.WARN,
                null,
                null,
                UNBOUNDED,
                UNBOUNDED,
                null,
                null,
                false,
                Map.of(),
                null,
                false);
    }

    /**
     * Returns a copy with another number of permits.
     *
     * @param permits maximum number of calls that run at once, at least 1
     * @return changed copy
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public LimitSettings withPermits(int permits) {
        return with(LimitNumber.PERMITS, permits);
    }

    /**
     * Returns a copy with a bound on how many calls wait.
     *
     * @param queueCapacity maximum number of calls that wait, at least 0; one more is rejected at once
     * @return changed copy
     * @throws IllegalArgumentException if {@code queueCapacity} is negative
     */
    public LimitSettings withQueueCapacity(int queueCapacity) {
        return with(LimitNumber.QUEUE_CAPACITY, queueCapacity);
    }

    /**
     * Returns a copy with a bound on how long a call waits.
     *
     * @param maxWait maximum wait, more than zero; after it the call is rejected. Null for no maximum
     * @return changed copy
     * @throws IllegalArgumentException if {@code maxWait} is zero or negative
     */
    public LimitSettings withMaxWait(@Nullable Duration maxWait) {
        return with(LimitNumber.MAX_WAIT, maxWait);
    }

    /**
     * Returns a copy with another treatment of nested calls.
     *
     * @param nested what happens to a task submitted under the same limit by a body that holds one of its permits
     * @return changed copy
     */
    public LimitSettings withNested(Nested nested) {
        return with(LimitNumber.NESTED, nested);
    }

    /**
     * Returns a copy with permits that are taken from a pool, as Spring Boot's properties allow. The limit has 1 permit until
     * the pool is read, which is when all singletons exist.
     *
     * @param permitsFrom where to take the permits from; null to keep the present number
     * @return changed copy
     * @throws IllegalArgumentException if the headroom is negative
     */
    public LimitSettings withPermitsFrom(@Nullable PermitsFrom permitsFrom) {
        Map<LimitNumber, @Nullable Object> changes = new EnumMap<>(LimitNumber.class);
        changes.put(LimitNumber.PERMITS_FROM, permitsFrom == null ? null : permitsFrom.bean());
        changes.put(LimitNumber.HEADROOM, permitsFrom == null ? null : permitsFrom.headroom());
        return LimitNumber.changed(this, changes);
    }

    /**
     * Returns a copy that lies within another limit: a call needs a permit of this limit and one of the other.
     *
     * @param within name of the limit around this one, null for none
     * @return changed copy
     * @throws IllegalArgumentException if the name is blank
     */
    public LimitSettings withWithin(@Nullable String within) {
        return with(LimitNumber.WITHIN, within);
    }

    /**
     * Returns a copy with a bound on how many calls of one key run at once.
     *
     * @param permitsPerKey maximum number of calls, at least 1; {@link #UNBOUNDED} for no maximum
     * @return changed copy
     * @throws IllegalArgumentException if {@code permitsPerKey} is below 1
     */
    public LimitSettings withPermitsPerKey(int permitsPerKey) {
        return with(LimitNumber.PERMITS_PER_KEY, permitsPerKey);
    }

    /**
     * Returns a copy with a bound on how many calls of one key wait.
     *
     * @param queueCapacityPerKey maximum number of calls, at least 0; {@link #UNBOUNDED} for no maximum. One more call of the
     *     key is rejected at once
     * @return changed copy
     * @throws IllegalArgumentException if {@code queueCapacityPerKey} is negative
     */
    public LimitSettings withQueueCapacityPerKey(int queueCapacityPerKey) {
        return with(LimitNumber.QUEUE_CAPACITY_PER_KEY, queueCapacityPerKey);
    }

    /**
     * Returns a copy of a limit that all replicas of the application have together.
     *
     * @param clusterPermits maximum number of calls that run at once in all replicas, at least 1; null for a limit of this JVM
     *     alone. If as many permits as that, or more, were configured for this JVM, these become as many
     * @return changed copy
     * @throws IllegalArgumentException if {@code clusterPermits} is below 1
     */
    public LimitSettings withClusterPermits(@Nullable Integer clusterPermits) {
        return with(LimitNumber.CLUSTER_PERMITS, clusterPermits);
    }

    /**
     * Returns a copy with another behaviour while no permits can be lent.
     *
     * @param onFailure what calls do then; null for what the cluster is configured with
     * @return changed copy
     */
    public LimitSettings withOnFailure(@Nullable OnFailure onFailure) {
        return with(LimitNumber.ON_FAILURE, onFailure);
    }

    /**
     * Returns a copy that rejects hopeless calls, or lets them wait.
     *
     * @param rejectHopeless whether a call waits for at most half of what was left before its deadline when it was made
     * @return changed copy
     */
    public LimitSettings withRejectHopeless(boolean rejectHopeless) {
        return with(LimitNumber.REJECT_HOPELESS, rejectHopeless);
    }

    /**
     * Returns a copy with other weights of keys. A limit that began without weights cannot get any while the application runs.
     *
     * @param keyWeights from 0.1 to 10, by key; all other keys have weight 1, or that of a {@link KeyWeight}
     * @return changed copy
     * @throws IllegalArgumentException if a weight is out of its range
     */
    public LimitSettings withKeyWeights(Map<String, Double> keyWeights) {
        return with(LimitNumber.KEY_WEIGHTS, keyWeights);
    }

    /**
     * Returns a copy that finds its number of permits.
     *
     * @param adapt bounds and goal; null to keep the present number. A number out of the bounds becomes the nearest within them
     * @return changed copy
     * @throws IllegalArgumentException if there is no number within the bounds, or if the permits come from a pool or are those of all
     *     replicas
     */
    public LimitSettings withAdapt(@Nullable Adapt adapt) {
        return with(LimitNumber.ADAPT, adapt);
    }

    /**
     * Returns a copy that only watches, or is in force.
     *
     * @param dryRun whether every call begins at once
     * @return changed copy
     * @throws IllegalArgumentException if it only watches and has keys with bounds or weights, lies within another limit, is shared
     *     by all replicas, or adapts its number of permits
     */
    public LimitSettings withDryRun(boolean dryRun) {
        return with(LimitNumber.DRY_RUN, dryRun);
    }

    /**
     * Whether a call waits for at most half of what was left before its deadline when it was made.
     *
     * @return whether that is configured, or the limit adapts its number of permits
     */
    public boolean rejectsHopeless() {
        return rejectHopeless || adapt != null;
    }

    /**
     * Whether permits of this limit are lent, because all replicas of the application have it together.
     *
     * @return whether it has {@code clusterPermits}
     */
    public boolean isShared() {
        return clusterPermits != null;
    }

    private LimitSettings with(LimitNumber number, @Nullable Object value) {
        return LimitNumber.changed(this, Collections.singletonMap(number, value));
    }

    /** As in {@code db (20 permits, queue of 100, wait up to 2s)}. */
    @Override
    public String toString() {
        return "%s (%s)".formatted(name, describe());
    }

    /** As in {@code 20 permits, 5 per key, within db, queue of 100, 20 per key, wait up to 2s}. */
    String describe() {
        return "%s%s%s%s%s%s%s, %s%s, %s%s%s%s"
                .formatted(
                        Numbers.of(permits, "permit"),
                        permitsFrom == null ? "" : " from " + permitsFrom,
                        adapt == null ? "" : " of %d to %d".formatted(adapt.least(), adapt.most()),
                        inAllReplicas(),
                        perKey(permitsPerKey),
                        keyWeights.isEmpty() ? "" : ", weights of " + Numbers.of(keyWeights.size(), "key"),
                        within == null ? "" : ", within " + within,
                        queueCapacity == UNBOUNDED ? "unbounded queue" : "queue of " + queueCapacity,
                        perKey(queueCapacityPerKey),
                        maxWait == null ? "unbounded wait" : "wait up to " + Durations.text(maxWait),
                        nested == Nested.FAIL ? ", nested calls fail" : "",
                        rejectsHopeless() ? ", hopeless calls rejected" : "",
                        dryRun ? ", dry run" : "");
    }

    /** One number is enough if this JVM may use all of them. */
    private String inAllReplicas() {
        if (clusterPermits == null) {
            return "";
        }
        boolean ownNumber = permitsFrom != null || permits < clusterPermits;
        return ownNumber ? ", %d in all replicas".formatted(clusterPermits) : " in all replicas";
    }

    private static String perKey(int most) {
        return most == UNBOUNDED ? "" : ", %d per key".formatted(most);
    }
}
