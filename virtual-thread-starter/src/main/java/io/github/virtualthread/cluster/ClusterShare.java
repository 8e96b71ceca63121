package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.Numbers;
import io.github.virtualthread.limit.PermitLease;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What one limit of this replica is lent. It says what to claim and takes the answers; {@link ClusterShares} does the talking,
 * {@link Lease} looks at the clock, and {@link Demand} knows what is wanted.
 *
 * <p>The limit never uses more than the engine has recorded: it has fewer permits before the engine is told that it needs fewer, and
 * more after the engine has lent them.
 */
final class ClusterShare extends PermitLease {

    private final TaskLimit limit;
    private final String member;
    private final ClusterSettings settings;
    private final LongSupplier clock;
    private final Exchanges exchanges;
    private final Lease lease;
    private final Demand demand;
    private final ScopedLock lock = new ScopedLock();
    private long begun; // at first, or again after a goodbye

    private long number;
    private long answered; // number of the last claim that was
    private volatile boolean known;
    private volatile boolean heldUp;
    private boolean left;

    /**
     * Creates the share of a limit.
     *
     * @param clock time in nanoseconds
     */
    ClusterShare(TaskLimit limit, String member, ClusterSettings settings, LongSupplier clock, Exchanges exchanges) {
        super(limit);
        this.limit = limit;
        this.member = member;
        this.settings = settings;
        this.clock = clock;
        this.exchanges = exchanges;
        this.lease = new Lease(settings.lease(), clock);
        this.begun = clock.getAsLong();
        this.demand = new Demand(limit, member, settings.lease(), exchanges.beat(), begun);
    }

    /** Begins while the engine is known to be away. Nobody else knows this share yet. */
    void beginAway() {
        lease.beginAway();
    }

    boolean isAway() {
        return lease.isAway();
    }

    /** At each grant: after this JVM has stood still, whatever should have noticed it comes too late. */
    @Override
    protected boolean isValid() {
        return lease.isValid();
    }

    @Override
    protected boolean isRefused() {
        return lease.isAway() && onFailure() == OnFailure.REJECT && !lease.isValid();
    }

    /** Read without a lock: by calls that are rejected, under the lock of their limit. */
    @Override
    protected boolean isHeldUp() {
        return heldUp;
    }

    @Override
    protected void wanted() {
        if (demand.want()) {
            exchanges.ask().run();
        }
    }

    /** The limit was changed: there may be more to have, or less to use. */
    @Override
    protected void changed() {
        demand.restart();
        exchanges.ask().run();
    }

    /** What to tell the engine. The limit has given up already what it is not fair to keep. */
    Claim claim() {
        try (ScopedLock held = lock.hold()) {
            endIfOver();
            long now = clock.getAsLong();
            if (left) {
                left = false;
                begun = now;
                lease.beginAgain();
            }
            lease.claim();
            int wants = demand.claim(this::wantedSinceLast, now);
            int asks = demand.asks(wants, counts(permits()), now);
            boolean isLent = lease.lending() == Lending.LENT;
            int most = isLent ? asks : most(); // what is not claimed must not be used, whatever is resized
            if (lent() > most) {
                lend(most);
            }
            if (lease.lending() == Lending.ALONE && lent() > localShare()) { // the number of permits has become smaller
                lend(localShare());
            }
            return claim(wants, asks, settings.lease());
        }
    }

    /** No call begins any more: what runs is claimed for one more lease, everything else is free for others at once. */
    Claim goodbye() {
        try (ScopedLock held = lock.hold()) {
            lease.end();
            afterLease();
            left = true;
            Claim claim = claim(0, 0, held() == 0 ? Duration.ZERO : settings.lease());
            answered = 0; // whoever comes back afterwards is new
            return claim;
        }
    }

    private Claim claim(int wants, int asks, Duration time) {
        known = true;
        long now = clock.getAsLong();
        return new Claim(
                LimitNames.uniform(limit.name()),
                member,
                ++number,
                answered,
                Duration.ofNanos(demand.age(now)),
                Duration.ofNanos(now - begun),
                permits(),
                replicas(),
                held(),
                wants,
                asks,
                Duration.ofNanos(demand.turn(now)),
                time);
    }

    private PermitCounts counts(int all) {
        return new PermitCounts(lent(), held(), most(), all);
    }

    /** As this replica is configured. */
    private int permits() {
        Integer permits = limit.clusterPermits();
        return permits == null ? limit.permits() : permits;
    }

    /** The settings of a limit may change. */
    private OnFailure onFailure() {
        return settings.onFailure(limit.settings());
    }

    /**
     * Uses what is lent. An answer that comes when its own lease is over is none.
     *
     * @param sent time at which the claim was made
     * @return whether it came in time
     */
    boolean answered(Claim claim, Answer answer, long sent) {
        try (ScopedLock held = lock.hold()) {
            if (left || !lease.lend(sent)) {
                return false;
            }
            answered = claim.number();
            heldUp = !answer.noGrowthFor().isZero();
            int use = demand.answer(claim, answer, counts(claim.permits()), clock.getAsLong());
            lend(use);
            demand.use(held(), answer.share());
            if (demand.isUrgent()) {
                exchanges.ask().run();
            }
            return true;
        }
    }

    /** The engine could not be reached, or refused. */
    void failed() {
        try (ScopedLock held = lock.hold()) {
            if (!left) {
                lease.fail();
            }
            demand.fail();
        }
    }

    /** Looks at the clock. */
    void look() {
        try (ScopedLock held = lock.hold()) {
            endIfOver();
            lease.look();
            if (!left && localShare() > 0 && lease.mayBeAlone()) {
                lease.goAlone();
                lend(localShare());
            }
        }
    }

    /** How many replicas may be alone at once; 0 if none may. */
    private int replicas() {
        Integer replicas = settings.replicas();
        return replicas == null || onFailure() != OnFailure.LOCAL_SHARE ? 0 : replicas;
    }

    /** What this replica uses without the engine: an equal part of the permits. 0 if its calls wait. */
    private int localShare() {
        Answer last = demand.last();
        int inForce = last == null ? permits() : Math.min(last.permits(), permits());
        return replicas() == 0 ? 0 : inForce / replicas();
    }

    private void endIfOver() {
        if (lease.endIfOver()) {
            afterLease();
        }
    }

    private void afterLease() {
        demand.restart();
        lend(0);
    }

    /** In how many nanoseconds it wants to be looked at again. */
    long untilLook() {
        try (ScopedLock held = lock.hold()) {
            return lease.untilLook(clock.getAsLong());
        }
    }

    /** In how many nanoseconds it has something to tell. */
    long untilClaim() {
        try (ScopedLock held = lock.hold()) {
            boolean isLent = lease.lending() == Lending.LENT;
            return demand.untilClaim(isLent, this::wantedNow, counts(permits()), clock.getAsLong());
        }
    }

    /** Whether it has ever told the engine anything. */
    boolean isKnown() {
        return known;
    }

    /** What its calls do, as in {@code limit 'partner' goes on alone with 7 of 20 permits}: soon, if the engine has just been lost. */
    String describe() {
        try (ScopedLock held = lock.hold()) {
            String name = "limit '%s'".formatted(limit.name());
            if (lease.lending() == Lending.LENT) {
                return "%s has %d of %s".formatted(name, lent(), Numbers.of(permits(), "permit"));
            }
            return name + withoutLease();
        }
    }

    private String withoutLease() {
        if (onFailure() == OnFailure.REJECT) {
            return " rejects new calls";
        }
        if (localShare() > 0) {
            return " goes on alone with %d of %s".formatted(localShare(), Numbers.of(permits(), "permit"));
        }
        return " lets its calls wait" + whyNotAlone();
    }

    private String whyNotAlone() {
        if (onFailure() == OnFailure.WAIT) {
            return "";
        }
        if (replicas() == 0) {
            return ", because virtual-thread.cluster.replicas does not say how many replicas there are";
        }
        return ", because there are more replicas than permits";
    }

    @Override
    protected ClusterState state() {
        try (ScopedLock held = lock.hold()) {
            long now = clock.getAsLong();
            Member own = new Member(
                    member,
                    held(),
                    limit.inUse() + limit.waiting(),
                    permits(),
                    Duration.ofNanos(demand.turn(now)),
                    Duration.ofNanos(demand.age(now)));
            return Members.state(own, demand.last(), lease, now);
        }
    }
}
