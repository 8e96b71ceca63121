package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many calls run at once under one name.
 *
 * <p>Thread-safe. A call that finds no permit is a small object in a first-in, first-out queue; it does not hold a thread.
 *
 * @see <a href="https://openjdk.org/jeps/444">JEP 444</a>: bound virtual threads by semaphores, not by pools
 */
public sealed interface TaskLimit permits SemaphoreLimit {

    /**
     * Name used in {@code @VirtualThread("name")} and in every meter.
     *
     * @return the name, never blank
     */
    String name();

    /**
     * All settings in force at this moment.
     *
     * @return settings, with the name that was configured first
     */
    LimitSettings settings();

    /**
     * Replaces the settings of the limit. More permits start waiting calls at once, fewer take effect as running calls end. Does not
     * block.
     *
     * @param change makes the new settings of the present ones, with the same name; applied again if somebody else changes the limit
     *     at the same time. If it throws, nothing is changed
     */
    void change(UnaryOperator<LimitSettings> change);

    /**
     * Maximum number of calls that run at once.
     *
     * @return number of permits, at least 1
     */
    default int permits() {
        return settings().permits();
    }

    /**
     * The pool that the permits are taken from. Until it has been read, which is when all singletons exist, the limit has 1
     * permit.
     *
     * @return source of the permits, null if the number is configured directly
     */
    default @Nullable PermitsFrom permitsFrom() {
        return settings().permitsFrom();
    }

    /**
     * Number of free permits at this moment.
     *
     * @return from 0 to {@link #permits()}
     */
    int available();

    /**
     * Whether a call that comes at this moment finds a permit of this limit.
     *
     * @return in a dry run true unless the limit is occupied, however many calls run
     */
    boolean isAnyFree();

    /**
     * Number of permits that calls hold at this moment, also calls of limits within this one.
     *
     * @return at least 0; more than {@link #permits()} after a reduction, until calls end
     */
    int inUse();

    /**
     * Number of calls that wait for a permit at this moment.
     *
     * @return from 0 to the capacity of the queue
     */
    int waiting();

    /**
     * Highest number of calls that waited at once lately.
     *
     * @return number since the reading before, and at least in the last minute
     */
    int mostWaiting();

    /**
     * How long the limit has been full. It is full from the moment a call finds no free permit, and waits or is rejected, until
     * a permit is free again or the last waiting call has got one.
     *
     * @return zero if the limit is not full at this moment
     */
    Duration saturated();

    /**
     * Number of calls that had a permit and gave it back, no matter how they ended, also calls of limits within this one. Calls
     * that ran under the permit of another call are a part of that one.
     *
     * @return number since the limit was created
     */
    long completed();

    /**
     * Maximum number of calls that wait; one more is rejected at once.
     *
     * @return at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     */
    default int queueCapacity() {
        return settings().queueCapacity();
    }

    /**
     * Maximum wait; after it the call is rejected.
     *
     * @return more than zero, null for no maximum
     */
    default @Nullable Duration maxWait() {
        return settings().maxWait();
    }

    /**
     * What happens to a task that is submitted by a body that holds a permit of this limit, or of one around it, if no permit
     * is free.
     *
     * @return whether it waits, with a warning, or is rejected
     */
    default Nested nested() {
        return settings().nested();
    }

    /**
     * Whether a call waits for at most half of what was left before its deadline when it was made.
     *
     * @return whether hopeless calls are rejected: if so configured, and in any case by a limit that adapts its number of permits
     */
    default boolean rejectsHopeless() {
        return settings().rejectsHopeless();
    }

    /**
     * How long one more call would wait, by the pace at which the limit has finished calls lately. Holds up the limit while it
     * reckons.
     *
     * @return null if that is not known: if nobody waits, while calls have keys, with limits around this one or inside, or if the
     *     limit does not {@linkplain #rejectsHopeless() reject hopeless calls}
     */
    @Nullable
    Duration expectedWait();

    /**
     * Changes the number of permits. Growing starts waiting calls at once; shrinking takes effect as running calls end. Does
     * not block.
     *
     * @param permits maximum number of calls that run at once, at least 1
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    default void resize(int permits) {
        change(now -> now.withPermits(permits));
    }

    /**
     * Changes how many calls may wait. Calls that already wait stay. Does not block.
     *
     * @param queueCapacity at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     * @throws IllegalArgumentException if {@code queueCapacity} is negative
     */
    default void setQueueCapacity(int queueCapacity) {
        change(now -> now.withQueueCapacity(queueCapacity));
    }

    /**
     * Changes how long calls may wait, including those that already wait. Does not block.
     *
     * @param maxWait more than zero, null for no maximum
     * @throws IllegalArgumentException if {@code maxWait} is zero or negative
     */
    default void setMaxWait(@Nullable Duration maxWait) {
        change(now -> now.withMaxWait(maxWait));
    }

    /**
     * The limit around this one: a call under this limit needs a permit of both.
     *
     * @return the limit around, null for none
     */
    @Nullable
    TaskLimit within();

    /**
     * Whether a call that holds a permit of this limit holds one of the other: of the same limit, or of one around this one.
     *
     * @param other another limit, or this one
     * @return whether the permit covers the other limit, too
     */
    default boolean includes(TaskLimit other) {
        for (TaskLimit each = this; each != null; each = each.within()) {
            if (each.equals(other)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Why calls find no permit although the calls of this limit do not have all of them.
     *
     * @return {@code occupied by the application}, {@code nobody lends it permits}, or the nearest full limit around, as in {@code
     *     limit db around it has 0 of 20}; null if there is no such reason
     */
    default @Nullable String whyFull() {
        if (isOccupied()) {
            return "occupied by the application";
        }
        TaskLimit around = available() == 0 ? null : within();
        while (around != null && around.available() > 0) {
            around = around.within();
        }
        return around == null ? null : "limit %s around it has 0 of %d".formatted(around.name(), around.lent());
    }

    /**
     * Maximum number of calls of one key that run at once.
     *
     * @return at least 1, {@link LimitSettings#UNBOUNDED} for no maximum
     */
    default int permitsPerKey() {
        return settings().permitsPerKey();
    }

    /**
     * Maximum number of calls of one key that wait.
     *
     * @return at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     */
    default int queueCapacityPerKey() {
        return settings().queueCapacityPerKey();
    }

    /**
     * Changes how many calls of one key run at once. Growing starts waiting calls at once; shrinking takes effect as running
     * calls end. Does not block.
     *
     * @param permitsPerKey at least 1, {@link LimitSettings#UNBOUNDED} for no maximum
     * @throws IllegalArgumentException if {@code permitsPerKey} is below 1
     */
    default void setPermitsPerKey(int permitsPerKey) {
        change(now -> now.withPermitsPerKey(permitsPerKey));
    }

    /**
     * Changes how many calls of one key may wait. Calls that already wait stay. Does not block.
     *
     * @param queueCapacityPerKey at least 0, {@link LimitSettings#UNBOUNDED} for no maximum
     * @throws IllegalArgumentException if {@code queueCapacityPerKey} is negative
     */
    default void setQueueCapacityPerKey(int queueCapacityPerKey) {
        change(now -> now.withQueueCapacityPerKey(queueCapacityPerKey));
    }

    /**
     * How many calls of a key get a permit for each call of a key of weight 1, while both wait.
     *
     * @param key key of the calls
     * @return from 0.1 to 10; null if all keys of the limit are equal
     */
    @Nullable
    Double weight(String key);

    /**
     * Number of keys that have calls which run or wait at this moment.
     *
     * @return at least 0
     */
    int keys();

    /**
     * Number of keys that run as many calls as {@link #permitsPerKey()} allows while others of their calls wait. Holds up the
     * limit while it counts.
     *
     * @return from 0 to {@link #keys()}
     */
    int keysFull();

    /**
     * Number of waiting calls of the key that has most of them. Holds up the limit while it counts.
     *
     * @return at least 0
     */
    int mostWaitingOfOneKey();

    /**
     * The keys with most calls. Holds up the limit while it looks.
     *
     * @param most maximum number of keys
     * @return those with most calls first; they may have gone on meanwhile
     */
    List<KeyUse> busiestKeys(int most);

    /**
     * The calls of one key.
     *
     * @param key key of the calls
     * @return their numbers at this moment; zeros if the key has none
     */
    KeyUse key(String key);

    /**
     * Closes the limit to new calls, for tests and maintenance: calls wait or are rejected as if all permits were taken. Calls that
     * run go on. Does not block. Several may be open at once; then the last one to be closed opens the limit.
     *
     * @return closes this occupation; a second time does nothing
     */
    Occupation occupy();

    /**
     * Whether an occupation is open.
     *
     * @return whether {@link #occupy()} was called and not closed since
     */
    boolean isOccupied();

    /**
     * Whether the limit only watches: every call begins at once.
     *
     * @return whether nobody waits and nobody is rejected, unless the limit is occupied
     */
    default boolean isDryRun() {
        return settings().dryRun();
    }

    /**
     * What a limit that only watches would have done to its calls. Holds up the limit while it counts.
     *
     * @return what happened in all dry runs since the limit was created; null if there was none
     */
    @Nullable
    DryRunState dryRun();

    /**
     * Maximum number of calls that run at once in all replicas of the application together, as this one is configured.
     *
     * @return at least 1, null for a limit of this JVM alone
     */
    default @Nullable Integer clusterPermits() {
        return settings().clusterPermits();
    }

    /**
     * Changes how many calls run at once in all replicas of the application together. A smaller number is in force as soon as the
     * engine knows it, a greater one once all replicas have it. If this JVM may use all of them, it may do so afterwards too. Does
     * not block.
     *
     * @param clusterPermits at least 1
     * @throws IllegalArgumentException if {@code clusterPermits} is below 1, or if the limit is one of this JVM alone
     */
    default void setClusterPermits(int clusterPermits) {
        change(now -> now.withClusterPermits(clusterPermits));
    }

    /**
     * Number of permits that this JVM may use at this moment.
     *
     * @return {@link #permits()}; if the limit is shared by all replicas, what of them was lent to this one
     */
    int lent();

    /**
     * What is known of the other replicas.
     *
     * @return state at this moment, null for a limit of this JVM alone
     */
    @Nullable
    ClusterState cluster();

    /**
     * A limit that all replicas of the application have together, as one of them sees it. The lists and numbers of others are those
     * of its last exchange with the engine.
     *
     * @param lending whether permits are lent
     * @param since how long that has been so
     * @param permits maximum number of calls in all replicas that is in force: the smallest that one of them is configured with
     * @param kept number of these that are lent to nobody: parts of replicas that may run without the engine
     * @param keptFor number of replicas that they are kept for
     * @param leaseLeft how long the permits are still lent; zero if the lease is over
     * @param members all replicas, in the order of their names; the first answer of the engine adds the others
     */
    record ClusterState(
            Lending lending,
            Duration since,
            int permits,
            int kept,
            int keptFor,
            Duration leaseLeft,
            List<Member> members) {

        /** Copies the list. */
        @Internal
        public ClusterState {
            members = List.copyOf(members);
        }

        /** Whether permits are lent. */
        public enum Lending {
            /** They are lent by the engine. */
            LENT,
            /** The engine cannot be reached: this replica uses its part of the permits. */
            ALONE,
            /** The engine has not been reached yet, or for the time of a lease: no call begins. */
            LOST
        }
    }

    /**
     * A replica that shares a limit, as it claimed last.
     *
     * @param name its name
     * @param holds number of permits that it may use
     * @param wants number of its calls that run and wait
     * @param permits maximum number of calls in all replicas together, as it is configured
     * @param hungryFor how long it has wanted more than it holds, or since its last turn; zero if it does not
     * @param claimed how long ago it claimed
     */
    record Member(String name, int holds, int wants, int permits, Duration hungryFor, Duration claimed) {

        /** Made by limits. */
        @Internal
        public Member {}
    }

    /**
     * What a limit that only watches would have done to its calls.
     *
     * @param mostInUse number of calls that ran at once, at most
     * @param half what it would have done with half of its permits, at least 1
     * @param same with its permits
     * @param twice with twice as many
     */
    record DryRunState(int mostInUse, Shadow half, Shadow same, Shadow twice) {

        /** Made by limits. */
        @Internal
        public DryRunState {}
    }

    /**
     * What would have happened to the calls of a limit with one number of permits. Calls that ran when a dry run began are not counted.
     * Exact where calls have neither keys nor deadlines, and none is cancelled.
     *
     * @param permits number of permits
     * @param calls number of calls that came
     * @param waited how many of them found no permit, and could wait
     * @param rejected how many found the queue full, or would have waited for the maximum wait
     * @param beyond how many of those that waited came while 100,000 others waited: these are left out of what follows
     * @param mostWaiting number of calls that waited at once, at most
     * @param begun number of calls that would have begun until now; the waits are those of these
     * @param total sum of their waits
     * @param median wait that half of them did not exceed, right to 1 %
     * @param p99 wait that 99 % of them did not exceed, right to 1 %
     * @param longest longest wait
     */
    record Shadow(
            int permits,
            long calls,
            long waited,
            long rejected,
            long beyond,
            int mostWaiting,
            long begun,
            Duration total,
            Duration median,
            Duration p99,
            Duration longest) {

        /** Made by limits. */
        @Internal
        public Shadow {}
    }

    /** All permits of a limit are taken until this is closed. */
    @FunctionalInterface
    interface Occupation extends AutoCloseable {

        /** Ends the occupation, which starts waiting calls at once. Does not block. Does nothing the second time. */
        @Override
        void close();
    }

    /**
     * The calls of one key under one limit.
     *
     * @param key key of the calls
     * @param running number of calls that run
     * @param waiting number of calls that wait
     * @param weight its {@linkplain TaskLimit#weight weight}; null if it has no calls, or if all keys are equal
     */
    record KeyUse(
            String key, int running, int waiting, @Nullable Double weight)
            implements Serializable { // as a part of LimitExceededException

        /** Made by limits. */
        @Internal
        public KeyUse {}

        /**
         * Creates the calls of a key whose weight is not known.
         *
         * @param key key of the calls
         * @param running number of calls that run
         * @param waiting number of calls that wait
         */
        @Internal
        public KeyUse(String key, int running, int waiting) {
            this(key, running, waiting, null);
        }
    }
}
