package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What can be set of a limit, one row each. Properties are merged and refreshed by these rows, the endpoint reads and shows them in
 * this order, and mistakes take their words from here. Where each of them must be named, a {@code switch} without a default does not
 * compile before a new one is there.
 */
@Internal
public enum LimitNumber {
    /** Number of permits. */
    PERMITS("permits", Kind.NUMBER, 1, Change.AT_RUN_TIME, AtEndpoint.CHANGED),
    /** Name of the bean that the permits are taken from. */
    PERMITS_FROM("permits-from", Kind.OTHER, 0, Change.AT_RUN_TIME, AtEndpoint.LEFT_OUT),
    /** Connections of a pool that are left to others. It counts only with such a bean. */
    HEADROOM("headroom", Kind.NUMBER, 0, Change.AT_RUN_TIME, AtEndpoint.LEFT_OUT),
    /** Number of permits in all replicas. */
    CLUSTER_PERMITS("cluster-permits", Kind.NUMBER, 1, Change.IF_SET_AT_START, AtEndpoint.CHANGED),
    /** What calls do while no permits are lent. */
    ON_FAILURE("on-failure", Kind.OTHER, 0, Change.AT_RUN_TIME, AtEndpoint.LEFT_OUT),
    /** Name of the limit around. */
    WITHIN("within", Kind.OTHER, 0, Change.NEVER, AtEndpoint.LEFT_OUT),
    /** Number of permits for each key. */
    PERMITS_PER_KEY(
            "permits-per-key",
            Kind.BOUND,
            1,
            Change.AT_RUN_TIME,
            AtEndpoint.CHANGED,
            "\"unbounded\" lets one key have all permits"),
    /** Number of calls that wait. */
    QUEUE_CAPACITY(
            "queue-capacity",
            Kind.BOUND,
            0,
            Change.AT_RUN_TIME,
            AtEndpoint.CHANGED,
            "\"unbounded\" lets any number of calls wait"),
    /** Number of calls of each key that wait. */
    QUEUE_CAPACITY_PER_KEY(
            "queue-capacity-per-key",
            Kind.BOUND,
            0,
            Change.AT_RUN_TIME,
            AtEndpoint.CHANGED,
            "\"unbounded\" lets any number of calls of one key wait"),
    /** Weights of keys, which may be personal data. */
    KEY_WEIGHTS("key-weights", Kind.OTHER, 0, Change.IF_SET_AT_START, AtEndpoint.LEFT_OUT),
    /** How long a call waits. */
    MAX_WAIT("max-wait", Kind.TIME, 0, Change.AT_RUN_TIME, AtEndpoint.CHANGED, "\"none\" removes the maximum wait"),
    /** Whether hopeless calls are rejected. */
    REJECT_HOPELESS("reject-hopeless", Kind.FLAG, 0, Change.AT_RUN_TIME, AtEndpoint.LEFT_OUT),
    /** How the number of permits is found. */
    ADAPT("adapt", Kind.OTHER, 0, Change.IF_SET_AT_START, AtEndpoint.LEFT_OUT),
    /** Whether the limit only watches. */
    DRY_RUN("dry-run", Kind.FLAG, 0, Change.AT_RUN_TIME, AtEndpoint.CHANGED_ONLY),
    /** What happens to nested calls. */
    NESTED("nested", Kind.OTHER, 0, Change.AT_RUN_TIME, AtEndpoint.SHOWN);

    /** What a value is. */
    public enum Kind {
        /** A whole number. */
        NUMBER,
        /** A whole number, or {@link LimitSettings#UNBOUNDED}. */
        BOUND,
        /** A duration longer than zero, or null for none. */
        TIME,
        /** True or false. */
        FLAG,
        /** Nothing that the endpoint changes. */
        OTHER
    }

    /** Whether a value can change while the application runs. */
    public enum Change {
        /** It can. */
        AT_RUN_TIME,
        /** It can, of a limit that had one at the start. */
        IF_SET_AT_START,
        /** It cannot. */
        NEVER
    }

    /** What the endpoint does with a value. */
    public enum AtEndpoint {
        /** It shows it, and changes it on request. */
        CHANGED,
        /** It changes it on request, and shows something else in its place. */
        CHANGED_ONLY,
        /** It shows it. */
        SHOWN,
        /** It shows something else in its place, or nothing. */
        LEFT_OUT
    }

    private final String key;
    private final Kind kind;
    private final int least;
    private final Change change;
    private final AtEndpoint atEndpoint;
    private final String withoutMaximum;

    LimitNumber(String key, Kind kind, int least, Change change, AtEndpoint atEndpoint) {
        this(key, kind, least, change, atEndpoint, "");
    }

    LimitNumber(String key, Kind kind, int least, Change change, AtEndpoint atEndpoint, String withoutMaximum) {
        this.key = key;
        this.kind = kind;
        this.least = least;
        this.change = change;
        this.atEndpoint = atEndpoint;
        this.withoutMaximum = withoutMaximum;
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
     * Name of the value at the endpoint.
     *
     * @return as in {@code queueCapacity}
     */
    public String parameter() {
        StringBuilder name = new StringBuilder();
        for (String word : key.split("-")) {
            name.append(name.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return name.toString();
    }

    /**
     * What the value is.
     *
     * @return how it is read and shown
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Lowest number.
     *
     * @return 0 or 1; 0 if the value is no number
     */
    public int least() {
        return least;
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
     * What the endpoint does with the value.
     *
     * @return whether it changes or shows it
     */
    public AtEndpoint atEndpoint() {
        return atEndpoint;
    }

    /**
     * How to ask the endpoint for no maximum.
     *
     * @return as in {@code "none" removes the maximum wait}; empty if there always is one
     */
    public String withoutMaximum() {
        return withoutMaximum;
    }

    /** What is wrong with a value, null if nothing is. What only some values can be wrong in, {@link LimitSettings} says. */
    @Nullable
    String problem(@Nullable Object value) {
        if (value instanceof Integer number && number < least) {
            return "%s must be at least %d, was %d".formatted(key, least, number);
        }
        if (value instanceof Duration time && !time.isPositive()) {
            return "%s must be longer than zero, was %s".formatted(key, Durations.text(time));
        }
        return null;
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
