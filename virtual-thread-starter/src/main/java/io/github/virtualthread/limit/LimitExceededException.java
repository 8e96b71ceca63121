package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskRejectedException;

/**
 * A call was rejected by a limit, or because the application is stopping. Its body never ran.
 *
 * <p>Methods that return a future deliver it through the future, {@code void} methods to the uncaught-exception handler. It
 * has no stack, because many may be made at once, unless {@code virtual-thread.caller-trace} is on.
 */
public class LimitExceededException extends TaskRejectedException {

    private static final long serialVersionUID = 1L;

    static final String NOTHING_LENT = "nobody lends it permits";

    private static final String PERMITS = "permits";
    private static final int LONGEST_KEY = 100;

    /** Why a call was rejected. */
    public enum Reason {
        /** The queue is full: as many calls wait as its capacity allows. */
        QUEUE_FULL,
        /** As many calls of the same key wait as the queue capacity per key allows. */
        KEY_QUEUE_FULL,
        /** No permit became free within the maximum wait. */
        WAIT_TIMEOUT,
        /** The deadline of the call passed before its body began, or had passed when it was made. */
        DEADLINE,
        /** The client of the web request that made the call has gone. */
        CLIENT_GONE,
        /**
         * The turn of the call did not come while half of what was left before its deadline passed, or will not, by the pace of the
         * limit.
         */
        HOPELESS,
        /**
         * The body that made the call holds a permit that the call needs on another thread, no other permit was free, and the
         * limit rejects such calls.
         */
        NESTED,
        /**
         * The limit is shared by all replicas, the engine that lends its permits cannot be reached, and the limit rejects calls
         * then.
         */
        NO_LEASE,
        /** An operator evicted all waiting calls. */
        EVICTED,
        /** The application is stopping or has stopped. */
        SHUTDOWN
    }

    private final String limit;
    private final String task;
    private final Reason reason;
    private final @Nullable LimitSettings settings;
    private final int available;
    private final int lent;
    private final int waiting;
    private final @Nullable String key;
    private final TaskLimit.@Nullable KeyUse keyUse;
    private final @Nullable String full;
    private final @Nullable Duration deadline;
    private final @Nullable Duration expectedWait;

    /**
     * Creates a rejection. Its message shows the numbers of the limit at this moment.
     *
     * @param task name of the rejected task
     * @param limit its limit, null for a call without one
     * @param reason why it was rejected
     */
    public LimitExceededException(String task, @Nullable TaskLimit limit, Reason reason) {
        this(task, limit, reason, null, null);
    }

    /**
     * Creates a rejection of a call with a key. Its message shows the numbers of the limit and of the key at this moment.
     *
     * @param task name of the rejected task
     * @param limit its limit, null for a call without one
     * @param reason why it was rejected
     * @param key key of the call, null for none
     */
    public LimitExceededException(String task, @Nullable TaskLimit limit, Reason reason, @Nullable String key) {
        this(task, limit, reason, key, null);
    }

    /**
     * Creates a rejection of a call with a key and a deadline. Its message shows the numbers of the limit and of the key at this
     * moment.
     *
     * @param task name of the rejected task
     * @param limit its limit, null for a call without one
     * @param reason why it was rejected
     * @param key key of the call, null for none
     * @param deadline time that the call, or a caller of it, had for its wait and its run together; null for none
     */
    public LimitExceededException(
            String task, @Nullable TaskLimit limit, Reason reason, @Nullable String key, @Nullable Duration deadline) {
        super(""); // see getMessage()
        this.deadline = deadline;
        this.key = key;
        this.keyUse = limit == null || key == null ? null : limit.key(key);
        this.full = limit == null ? null : limit.whyFull();
        this.limit = limit == null ? LimitNames.NONE : limit.name();
        this.task = task;
        this.reason = reason;
        this.settings = limit == null ? null : limit.settings();
        this.available = limit == null ? 0 : limit.available();
        this.lent = limit == null ? 0 : limit.lent();
        this.waiting = limit == null ? 0 : limit.waiting();
        this.expectedWait = limit == null ? null : shorter(shorter(limit.expectedWait(), limit.maxWait()), deadline);
    }

    private static @Nullable Duration shorter(@Nullable Duration wait, @Nullable Duration most) {
        return wait == null || most == null || wait.compareTo(most) < 0 ? wait : most;
    }

    /** Called by the constructor of {@link Throwable}: walks no stack. */
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // does nothing
    public Throwable fillInStackTrace() {
        return this;
    }

    /** Built when it is read, because many may be made at once and few are read. */
    @Override
    public String getMessage() {
        return "%s was rejected (%s): %s".formatted(task, reason, detail());
    }

    private String detail() {
        if (reason == Reason.CLIENT_GONE) {
            return "the client of its web request has gone";
        }
        if (reason == Reason.DEADLINE && settings == null) {
            return overdue();
        }
        if (settings == null || reason == Reason.SHUTDOWN) {
            return "the application is stopping and accepts no more calls";
        }
        boolean lent = settings.clusterPermits() != null;
        String state = "limit %s (%s) has %s and %d calls waiting"
                .formatted(
                        limit, settings.describe(), lent ? lent() : Numbers.of(available, "permit") + " free", waiting);
        String around = available > 0 && full != null ? ", and " + full : "";
        return state + ofKey() + around + "; "
                + switch (reason) {
                    case QUEUE_FULL -> moreRoom();
                    case KEY_QUEUE_FULL ->
                        more() + ", raise its queue-capacity-per-key for bursts, or send fewer calls with this key";
                    case WAIT_TIMEOUT -> more() + ", raise its max-wait, or send fewer calls";
                    case DEADLINE -> overdue();
                    case HOPELESS ->
                        "its turn does not come while it may wait, which is for half of what is left before its deadline%s: %s"
                                .formatted(ofDeadline(), moreTime());
                    case NO_LEASE ->
                        "the engine that lends permits to all replicas cannot be reached: see the log for why, or set its"
                                + " on-failure to local-share or wait";
                    case EVICTED -> "an operator evicted all waiting calls";
                    default ->
                        "the caller holds one of its permits: give this call a limit of its own, let one call do both,"
                                + " or run it on its caller's thread, such as by @Limited";
                };
    }

    private String moreRoom() {
        if (isKeyFull()) {
            return "raise its permits-per-key, or send fewer calls with this key";
        }
        return more() + ", raise its queue-capacity for bursts, or send fewer calls";
    }

    private String ofKey() {
        if (keyUse == null) {
            return "";
        }
        return ", key '%s' has %d running and %d waiting"
                .formatted(shown(keyUse.key()), keyUse.running(), keyUse.waiting());
    }

    /** A client may have chosen the key: it must neither forge a line of the log nor fill one. */
    private static String shown(String key) {
        String beginning = key.length() > LONGEST_KEY ? key.substring(0, LONGEST_KEY) + "..." : key;
        return beginning.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
    }

    private String lent() {
        if (isNothingLent()) {
            return "no permits, because none are lent to this replica,";
        }
        return "%d of %s for this replica, %d of them free,"
                .formatted(lent, Numbers.of(clusterPermits(), "permit"), available);
    }

    private boolean isNothingLent() {
        return NOTHING_LENT.equals(full);
    }

    /** What lets more such calls run. A resource that is slow already only gets slower by more of them. */
    private String more() {
        if (isNothingLent()) {
            return "see the log for why";
        }
        String bound = bound();
        if (isKeyFull()) {
            return "raise its " + bound;
        }
        PermitsFrom pool = settings == null || !bound.equals(PERMITS) ? null : settings.permitsFrom();
        String how = pool == null ? "raise its " + bound : "enlarge its pool '%s'".formatted(pool.bean());
        return how + " if the resource can take more";
    }

    /** What keeps more such calls from running. */
    private String bound() {
        if (isKeyFull()) {
            return "permits-per-key";
        }
        boolean own =
                settings == null || !settings.isShared() || (lent >= settings.permits() && lent < clusterPermits());
        return own ? PERMITS : "cluster-permits";
    }

    /** Whether more permits of the limit would not let one more call of the key run. */
    private boolean isKeyFull() {
        return settings != null && keyUse != null && keyUse.running() >= settings.permitsPerKey();
    }

    private int clusterPermits() {
        Integer permits = settings == null ? null : settings.clusterPermits();
        return permits == null ? 0 : permits;
    }

    private String overdue() {
        return "its deadline%s passed before it began: %s".formatted(ofDeadline(), moreTime());
    }

    private String ofDeadline() {
        return deadline == null ? "" : " of " + Durations.text(deadline);
    }

    private String moreTime() {
        return "give it or its caller more time"
                + (settings == null ? "" : ", %s, or send fewer calls".formatted(more()));
    }

    /**
     * Key of the call, as {@code key} of the annotation gave it. It may be personal data. A client may have chosen it: the
     * message shows at most 100 characters of it, and {@code ?} for control characters.
     *
     * @return the key, null if the call had none
     */
    public @Nullable String key() {
        return key;
    }

    /**
     * How long a call would wait that comes now, by the pace of the limit.
     *
     * @return time from the moment of the rejection, at most the length of the deadline and the maximum wait; empty if it is not known: if nobody
     *     waits, while calls have keys, with limits around or inside, or if the limit does not reject hopeless calls
     */
    public Optional<Duration> expectedWait() {
        return Optional.ofNullable(expectedWait);
    }

    /**
     * Name of the limit that rejected the call.
     *
     * @return the name, {@code "none"} for a call without a limit
     */
    public String limit() {
        return limit;
    }

    /**
     * Name of the rejected task.
     *
     * @return {@code Class.method}, or the name given in the annotation
     */
    public String task() {
        return task;
    }

    /**
     * Why the call was rejected.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
