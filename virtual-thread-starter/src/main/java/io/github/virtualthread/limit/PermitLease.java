package io.github.virtualthread.limit;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Lends permits to a limit that all replicas of an application have together. Without a lease such a limit has no permits.
 *
 * <p>What the limit asks must neither block nor throw.
 */
public abstract class PermitLease {

    private final SemaphoreLimit limit;

    /**
     * Creates a lease, which the limit does not have before {@link #begin()}.
     *
     * @param limit limit with {@code clusterPermits}
     */
    protected PermitLease(TaskLimit limit) {
        this.limit = (SemaphoreLimit) limit;
    }

    /** The limit has this lease from now on. Calls that wait already are told at once. */
    protected final void begin() {
        permits().lease = this;
        if (limit.wanted() > 0) {
            wanted();
        }
    }

    /**
     * Whether the limit may grant permits at this moment. Asked at each grant.
     *
     * @return false also if the lease is over and nobody has noticed it yet
     */
    protected abstract boolean isValid();

    /**
     * Whether a call that finds no permit is rejected with reason {@code NO_LEASE}.
     *
     * @return false if it waits
     */
    protected abstract boolean isRefused();

    /** A call has found no permit, or the limit was changed. */
    protected abstract void wanted();

    /**
     * What is known of the other replicas.
     *
     * @return state at this moment
     */
    protected abstract TaskLimit.ClusterState state();

    /**
     * Changes the number of permits that are lent. More start waiting calls at once, fewer take effect as running calls end.
     *
     * @param permits number of permits, at least 0
     */
    protected final void share(int permits) {
        limit.share(permits);
    }

    /**
     * The permits that are lent at this moment.
     *
     * @return what {@link #share(int)} was told last, 0 before that
     */
    protected final int share() {
        return permits().share();
    }

    /**
     * Maximum number of permits that calls use until the next call of {@link #share(int)}.
     *
     * @return what is lent; more if that has shrunk under running calls
     */
    protected final int held() {
        return limit.held();
    }

    /**
     * Number of calls that have a permit, or would with more of them; calls that were refused for want of permits since it was
     * asked last count, too.
     *
     * @return at most as many as this JVM may run at once
     */
    protected final int wantedSinceLast() {
        int refused = (int) Math.min(limit.permits(), permits().refused.sumThenReset());
        return Math.min(limit.permits(), limit.wanted() + refused);
    }

    private Leased permits() {
        return (Leased) limit.admission.level.permits;
    }

    /** The part of the permits that this JVM is lent. A type of its own: all other limits have no code for it. */
    @SuppressWarnings("serial")
    static final class Leased extends Permits {

        private final LongAdder refused = new LongAdder();
        private volatile @Nullable PermitLease lease;
        volatile int share; // written under the lock of the limit

        private Leased() {
            super(0);
        }

        /** Here, so that the class is loaded only if a limit needs it. */
        static Permits create() {
            return new Leased();
        }

        @Override
        int share() {
            return share;
        }

        @Override
        @Nullable
        PermitLease lease() {
            return lease;
        }

        private boolean isValid() {
            PermitLease present = lease;
            return present != null && present.isValid();
        }

        @Override
        public boolean tryAcquire() {
            return isValid() && super.tryAcquire();
        }

        /** Below zero without a lease: then no permit is handed over to another call either. */
        @Override
        public int availablePermits() {
            int left = super.availablePermits();
            return isValid() ? left : Math.min(-1, left);
        }

        @Override
        int left() {
            return super.availablePermits();
        }

        @Override
        void missed(boolean wasRefused) {
            if (wasRefused) {
                refused.increment();
            }
            PermitLease present = lease;
            if (present != null) {
                present.wanted();
            }
        }

        @Override
        boolean isRefused() {
            PermitLease present = lease;
            return present != null && present.isRefused();
        }
    }
}
