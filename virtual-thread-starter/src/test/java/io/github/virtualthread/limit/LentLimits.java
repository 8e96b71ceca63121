package io.github.virtualthread.limit;

/** Limits whose permits are lent by the test. */
abstract class LentLimits extends TimedLimits {

    static Lease lent(TaskLimit limit, int share) {
        Lease lease = new Lease(limit);
        lease.start();
        lease.lends(share);
        return lease;
    }

    /** Lends what the test says, and is over after so many looks. */
    static final class Lease extends PermitLease {

        int validFor;
        boolean wasValid;
        boolean refuses;
        int told;
        int changes;

        Lease(TaskLimit limit) {
            super(limit);
        }

        void start() {
            begin();
        }

        void lends(int share) {
            lends(share, Integer.MAX_VALUE);
        }

        void lends(int share, int looks) {
            validFor = looks;
            lend(share);
        }

        @Override
        protected boolean isValid() {
            boolean valid = validFor > 0;
            wasValid |= valid;
            validFor -= valid && validFor < Integer.MAX_VALUE ? 1 : 0;
            return valid;
        }

        @Override
        protected boolean isRefused() {
            return refuses && validFor == 0;
        }

        @Override
        protected boolean isHeldUp() {
            return false;
        }

        @Override
        protected void wanted() {
            told++;
        }

        @Override
        protected void changed() {
            changes++;
        }

        @Override
        protected TaskLimit.ClusterState state() {
            throw new UnsupportedOperationException();
        }
    }
}
