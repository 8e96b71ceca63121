package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a replica shares limits with the others.
 *
 * @param member name of this replica, as others see it; random characters are appended
 * @param lease how long permits are lent
 * @param beat time between two exchanges with the engine while calls run or wait; null for what suits the engine
 * @param onFailure what calls do when the engine has not been reached for the time of a lease
 * @param replicas most replicas that run at once: each uses an equal part of the permits without the engine; null if not known
 */
@Internal
public record ClusterSettings(
        @Nullable String member,
        Duration lease,
        @Nullable Duration beat,
        OnFailure onFailure,
        @Nullable Integer replicas) {

    /** Settings of an application that sets nothing. */
    public static final ClusterSettings DEFAULTS =
            new ClusterSettings(null, Duration.ofSeconds(10), null, OnFailure.LOCAL_SHARE, null);

    /**
     * What calls of a limit do without the engine.
     *
     * @param limit may have a setting of its own
     * @return never null
     */
    public OnFailure onFailure(LimitSettings limit) {
        OnFailure own = limit.onFailure();
        return own == null ? onFailure : own;
    }

    /**
     * Whether an exchange may fail a few times without the loss of the lease.
     *
     * @param beat time between two exchanges
     * @return whether a lease has ten of them
     */
    public boolean isLongEnoughFor(Duration beat) {
        return lease.compareTo(beat.multipliedBy(10)) >= 0;
    }
}
