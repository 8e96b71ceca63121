package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Lends permits to a limit that all replicas of an application have together. Without a lease such a limit has no permits.
 *
 * <p>What the limit asks must neither block nor throw.
 */
@Internal
public abstract class PermitLease {

    private final Borrower borrower;
    private final LongAdder refused = new LongAdder();
    volatile int lent; // written under the lock of the limit

    /**
     * Creates a lease. A limit does not have it before {@link #begin()}.
     *
     * @param limit limit with {@code clusterPermits}
     */
    protected PermitLease(TaskLimit limit) {
        this.borrower = (Borrower) limit;
    }

    /** The limit has this lease from now on. If calls wait already, it is notified at once. */
    public final void begin() {
        borrower.setLease(this);
        if (borrower.wanted() > 0) {
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

    /**
     * Whether no more permits are lent for a while, because who lends them may not know of all that are in use.
     *
     * @return as it was said last
     */
    protected abstract boolean isHeldUp();

    /** A call has found no permit. */
    protected abstract void wanted();

    /** The number of permits of this limit has changed, or of one around it. */
    protected abstract void changed();

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
    protected final void lend(int permits) {
        borrower.lend(this, permits);
    }

    /**
     * The permits that are lent at this moment.
     *
     * @return what {@link #lend(int)} was given last, 0 before that
     */
    protected final int lent() {
        return lent;
    }

    /**
     * Maximum number of permits that calls use until the next call of {@link #lend(int)}.
     *
     * @return what is lent; more if that has shrunk under running calls
     */
    protected final int held() {
        return borrower.held(this);
    }

    /**
     * Number of calls that have a permit, or would with more of them; calls that were refused for want of permits since it was
     * asked last count, too.
     *
     * @return at most {@link #most()}
     */
    protected final int wantedSinceLast() {
        int most = most();
        return Math.min(most, borrower.wanted() + (int) Math.min(most, refused.sumThenReset()));
    }

    /**
     * Number of calls that have a permit at this moment, or would with more of them.
     *
     * @return at most {@link #most()}
     */
    protected final int wantedNow() {
        return borrower.wanted();
    }

    /**
     * Maximum number of calls that run at once in this JVM, also by the limits around.
     *
     * @return at least 1
     */
    protected final int most() {
        return borrower.most();
    }

    /** A call has found no permit, and waits or was refused. */
    final void missed(boolean wasRefused) {
        if (borrower.isOccupied()) {
            return; // it has said what it can use, which is nothing
        }
        if (wasRefused) {
            refused.increment();
        }
        wanted();
    }

    /** Whether none are lent, for a reason that no number of this limit changes. */
    final boolean lendsNothing() {
        return !isValid() || (lent == 0 && isHeldUp());
    }

    /** The limit, as its lease sees it. */
    interface Borrower {

        /** The limit has this lease from now on. */
        void setLease(PermitLease lease);

        /** More permits are lent, or fewer. */
        void lend(PermitLease lease, int permits);

        /** How many permits calls may use while nothing is changed. */
        int held(PermitLease lease);

        /** Whether the application occupies the limit, which then can use no permits. */
        boolean isOccupied();

        /** How many calls have a permit, or would with more of them. */
        int wanted();

        /** How many calls run at once at most, by this limit and those around it. */
        int most();
    }

    /** The part of the permits that this JVM is lent. A type of its own: all other limits have no code for it. */
    static final class Leased extends Permits {

        volatile @Nullable PermitLease lease;

        private Leased() {
            super(0);
        }

        /** Here, so that the class is loaded only if a limit needs it. */
        static Permits create() {
            return new Leased();
        }

        @Override
        int lent() {
            PermitLease present = lease;
            return present == null ? 0 : present.lent;
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
            PermitLease present = lease;
            if (present != null && (left() <= 0 || !present.isValid())) { // else another limit is short of permits
                present.missed(wasRefused);
            }
        }

        @Override
        void changed() {
            PermitLease present = lease;
            if (present != null) {
                present.changed();
            }
        }

        @Override
        boolean isRefused() {
            PermitLease present = lease;
            return present != null && present.isRefused();
        }
    }
}
