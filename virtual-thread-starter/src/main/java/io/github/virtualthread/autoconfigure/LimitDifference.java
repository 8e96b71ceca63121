package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.limit.LimitSettings;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What changed properties change of a limit. A limit cannot move into another one, and cannot begin or end to be shared by all
 * replicas: that stays as it is.
 */
final class LimitDifference {

    private LimitDifference() {}

    /**
     * Applies the difference between two properties.
     *
     * @param before the properties that were bound last, null if there were none
     * @param after the properties of now
     * @param now the limit, which may have been changed by hand
     */
    static LimitSettings apply(@Nullable LimitSettings before, LimitSettings after, LimitSettings now) {
        if (before == null) {
            return isSameKind(now, after) ? after : after.withClusterPermits(now.clusterPermits());
        }
        LimitSettings changed = permits(before, after, now);
        if (before.permitsPerKey() != after.permitsPerKey()) {
            changed = changed.withPermitsPerKey(after.permitsPerKey());
        }
        if (before.queueCapacity() != after.queueCapacity()) {
            changed = changed.withQueueCapacity(after.queueCapacity());
        }
        if (before.queueCapacityPerKey() != after.queueCapacityPerKey()) {
            changed = changed.withQueueCapacityPerKey(after.queueCapacityPerKey());
        }
        if (!Objects.equals(before.maxWait(), after.maxWait())) {
            changed = changed.withMaxWait(after.maxWait());
        }
        if (before.onFailure() != after.onFailure()) {
            changed = changed.withOnFailure(after.onFailure());
        }
        return before.nested() == after.nested() ? changed : changed.withNested(after.nested());
    }

    static boolean isSameKind(LimitSettings limit, LimitSettings other) {
        return (limit.clusterPermits() == null) == (other.clusterPermits() == null);
    }

    private static LimitSettings permits(LimitSettings before, LimitSettings after, LimitSettings now) {
        LimitSettings changed = now;
        if (isSameKind(now, after) && !Objects.equals(before.clusterPermits(), after.clusterPermits())) {
            changed = changed.withClusterPermits(after.clusterPermits());
        }
        if (!Objects.equals(before.permitsFrom(), after.permitsFrom())) {
            // a pool may have more permits than cluster-permits, a number may not
            return after.permitsFrom() == null
                    ? changed.withPermits(after.permits()).withPermitsFrom(null)
                    : changed.withPermitsFrom(after.permitsFrom()).withPermits(after.permits());
        }
        return isOtherNumber(before, after) ? changed.withPermits(after.permits()) : changed;
    }

    /** The permits are not a property if they are those of a pool, or all that the replicas have. */
    private static boolean isOtherNumber(LimitSettings before, LimitSettings after) {
        return after.permitsFrom() == null && before.permits() != after.permits() && !(hasAll(before) && hasAll(after));
    }

    private static boolean hasAll(LimitSettings limit) {
        return Objects.equals(limit.clusterPermits(), limit.permits());
    }
}
