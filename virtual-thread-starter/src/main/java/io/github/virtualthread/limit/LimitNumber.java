package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What can be set of a limit, one row each. Properties are merged and refreshed by these rows. Where each of them must be named, a
 * {@code switch} without a default does not compile before a new one is there.
 */
public enum LimitNumber {
    /** Number of permits. */
    PERMITS("permits", Change.AT_RUN_TIME),
    /** Name of the bean that the permits are taken from. */
    PERMITS_FROM("permits-from", Change.AT_RUN_TIME),
    /** Connections of a pool that are left to others. It counts only with such a bean. */
    HEADROOM("headroom", Change.AT_RUN_TIME),
    /** Number of permits in all replicas. */
    CLUSTER_PERMITS("cluster-permits", Change.IF_SET_AT_START),
    /** What calls do while no permits are lent. */
    ON_FAILURE("on-failure", Change.AT_RUN_TIME),
    /** Name of the limit around. */
    WITHIN("within", Change.NEVER),
    /** Number of permits for each key. */
    PERMITS_PER_KEY("permits-per-key", Change.AT_RUN_TIME),
    /** Number of calls that wait. */
    QUEUE_CAPACITY("queue-capacity", Change.AT_RUN_TIME),
    /** Number of calls of each key that wait. */
    QUEUE_CAPACITY_PER_KEY("queue-capacity-per-key", Change.AT_RUN_TIME),
    /** Weights of keys. */
    KEY_WEIGHTS("key-weights", Change.IF_SET_AT_START),
    /** How long a call waits. */
    MAX_WAIT("max-wait", Change.AT_RUN_TIME),
    /** Whether hopeless calls are rejected. */
    REJECT_HOPELESS("reject-hopeless", Change.AT_RUN_TIME),
    /** How the number of permits is found. */
    ADAPT("adapt", Change.IF_SET_AT_START),
    /** Whether the limit only watches. */
    DRY_RUN("dry-run", Change.AT_RUN_TIME),
    /** What happens to nested calls. */
    NESTED("nested", Change.AT_RUN_TIME);

    /** Whether a value can change while the application runs. */
    public enum Change {
        /** It can. */
        AT_RUN_TIME,
        /** It can, of a limit that had one at the start. */
        IF_SET_AT_START,
        /** It cannot. */
        NEVER
    }

    private final String key;
    private final Change change;

    LimitNumber(String key, Change change) {
        this.key = key;
        this.change = change;
    }

    /**
     * Key below the name of the limit.
     *
     * @return as in {@code queue-capacity}
     */
    public String key() {
        return key;
    }

    /**
     * Whether the value can change while the application runs.
     *
     * @return when
     */
    public Change change() {
        return change;
    }

    /**
     * The value in settings.
     *
     * @param settings settings of a limit
     * @return its value there, null for none
     */
    public @Nullable Object of(LimitSettings settings) {
        PermitsFrom from = settings.permitsFrom();
        return switch (this) {
            case PERMITS -> settings.permits();
            case PERMITS_FROM -> from == null ? null : from.bean();
            case HEADROOM -> from == null ? null : from.headroom();
            case CLUSTER_PERMITS -> settings.clusterPermits();
            case ON_FAILURE -> settings.onFailure();
            case WITHIN -> settings.within();
            case PERMITS_PER_KEY -> settings.permitsPerKey();
            case QUEUE_CAPACITY -> settings.queueCapacity();
            case QUEUE_CAPACITY_PER_KEY -> settings.queueCapacityPerKey();
            case KEY_WEIGHTS -> settings.keyWeights();
            case MAX_WAIT -> settings.maxWait();
            case REJECT_HOPELESS -> settings.rejectHopeless();
            case ADAPT -> settings.adapt();
            case DRY_RUN -> settings.dryRun();
            case NESTED -> settings.nested();
        };
    }

    /**
     * Changes several values together, so that they are checked together. Permits that are not among them follow the bounds that are.
     *
     * @param settings settings of a limit
     * @param changes new values, of the types that {@link #of} returns
     * @return changed copy
     * @throws IllegalArgumentException naming every value that is out of its range
     */
    public static LimitSettings changed(LimitSettings settings, Map<LimitNumber, ? extends @Nullable Object> changes) {
        Map<LimitNumber, @Nullable Object> values = new EnumMap<>(LimitNumber.class);
        for (LimitNumber number : values()) {
            values.put(number, number.of(settings));
        }
        values.putAll(changes);
        if (!changes.containsKey(PERMITS)) {
            values.put(PERMITS, permits(settings, changes));
        }
        return settings(settings.name(), values);
    }

    private static int permits(LimitSettings before, Map<LimitNumber, ? extends @Nullable Object> changes) {
        int permits = before.permits();
        Integer inAll = before.clusterPermits();
        if (changes.get(CLUSTER_PERMITS) instanceof Integer most && most > 0 && before.permitsFrom() == null) {
            boolean hadAll = inAll != null && permits >= inAll;
            permits = hadAll ? most : Math.min(permits, most);
        }
        if (changes.get(ADAPT) instanceof Adapt adapt) {
            permits = Math.max(adapt.least(), Math.min(adapt.most(), permits));
        }
        return permits;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // the values are as of(LimitSettings) returns them
    private static LimitSettings settings(String name, Map<LimitNumber, @Nullable Object> values) {
        String bean = (String) values.get(PERMITS_FROM);
        Integer headroom = (Integer) values.get(HEADROOM);
        return new LimitSettings(
                name,
                (Integer) values.get(PERMITS),
                (Integer) values.get(QUEUE_CAPACITY),
                (Duration) values.get(MAX_WAIT),
                (Nested) values.get(NESTED),
                bean == null ? null : new PermitsFrom(bean, headroom == null ? 0 : headroom),
                (String) values.get(WITHIN),
                (Integer) values.get(PERMITS_PER_KEY),
                (Integer) values.get(QUEUE_CAPACITY_PER_KEY),
                (Integer) values.get(CLUSTER_PERMITS),
                (OnFailure) values.get(ON_FAILURE),
                (Boolean) values.get(REJECT_HOPELESS),
                (Map<String, Double>) values.get(KEY_WEIGHTS),
                (Adapt) values.get(ADAPT),
                (Boolean) values.get(DRY_RUN));
    }
}
