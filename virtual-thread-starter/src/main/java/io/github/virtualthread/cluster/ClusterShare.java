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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one limit of this replica is lent. It says what to claim and takes the answers; {@link ClusterShares} does the talking,
 * {@link Lease} looks at the clock, and {@link Demand} knows what is wanted.
 *
 * <p>The limit never uses more than the engine has recorded: it has fewer permits before the engine is told that it needs fewer, and
 * more after the engine has lent them. The same holds for the local share.
 */
final class ClusterShare extends PermitLease {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimit.class);

    private final TaskLimit limit;
    private final String member;
    private final ClusterSettings settings;
    private final LongSupplier clock;
    private final Exchanges exchanges;
    private final Lease lease;
    private final Demand demand;
    private final LocalShare local;
    private final ScopedLock lock = new ScopedLock();

    private long number;
    private long answered; // number of the last claim that was
    private volatile boolean known;
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
        this.local = new LocalShare(member, settings.replicas());
        this.demand = new Demand(limit, member, settings.lease(), exchanges.beat(), clock.getAsLong());
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
            lease.claim();
            int wants = demand.claim(this::wantedSinceLast, now);
            int asks = demand.asks(wants, counts(permits()), now);
            boolean isLent = lease.lending() == Lending.LENT;
            int most = isLent ? asks : most(); // what is not claimed must not be used, whatever is resized
            if (lent() > most) {
                lend(most);
            }
            int asksLocal = onFailure() == OnFailure.LOCAL_SHARE ? local.fair(demand.last(), permits()) : 0;
            if (lease.lending() != Lending.ALONE) {
                local.giveUp(asksLocal);
            } else if (lent() > local.size(demand.last(), permits())) { // the number of permits has become smaller
                useLocalShare();
            }
            left = false;
            return claim(wants, asks, asksLocal, settings.lease());
        }
    }

    /** No call begins any more: what runs is claimed for one more lease, everything else is free for others at once. */
    Claim goodbye() {
        try (ScopedLock held = lock.hold()) {
            lease.end();
            afterLease();
            left = true;
            local.giveUp(0);
            Claim claim = claim(0, 0, 0, held() == 0 ? Duration.ZERO : settings.lease());
            answered = 0; // whoever comes back afterwards is new
            return claim;
        }
    }

    private Claim claim(int wants, int asks, int asksLocal, Duration time) {
        known = true;
        long now = clock.getAsLong();
        return new Claim(
                LimitNames.uniform(limit.name()),
                member,
                ++number,
                answered,
                Duration.ofNanos(demand.age(now)),
                permits(),
                held(),
                wants,
                asks,
                local.recorded(),
                asksLocal,
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
        OnFailure own = limit.settings().onFailure();
        return own == null ? settings.onFailure() : own;
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
            local.record(answer.localShare());
            int use = demand.answer(claim, answer, counts(claim.permits()), clock.getAsLong());
            lend(use);
            demand.use(held(), answer.share());
            if (demand.isUrgent()) {
                exchanges.ask().run();
            }
            return true;
        }
    }

    /** A goodbye of that member, with the greatest number: whatever it has claimed came before. If it lives, its next claim shows it. */
    @Override
    protected Member takeBack(String other) {
        Member taken = Members.other(limit.name(), state().members(), other, member);
        exchanges.remove().accept(Claim.removal(LimitNames.uniform(limit.name()), other, taken.permits()));
        logger.warn(
                "The share of replica '{}' of limit '{}' was taken back: {}, and {} as its local share. If that replica"
                        + " is alive, it may run as many calls beside the others until it claims again",
                other,
                limit.name(),
                Numbers.of(taken.holds(), "permit"),
                taken.localShare());
        wanted();
        return taken;
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
            if (lease.runsOutOfPatience() && onFailure() == OnFailure.LOCAL_SHARE && local.isKnown(demand.last())) {
                lease.goAlone();
                useLocalShare();
            }
        }
    }

    private void useLocalShare() {
        local.record(local.size(demand.last(), permits()));
        lend(local.recorded());
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
            return name + local.describe(onFailure(), demand.last(), permits());
        }
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
                    local.recorded(),
                    Duration.ofNanos(demand.turn(now)),
                    Duration.ofNanos(demand.age(now)),
                    false);
            return Members.state(own, demand.last(), lease, now);
        }
    }
}
