package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.PermitLease;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Engine;
import io.github.virtualthread.limit.TaskLimit.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one limit of this replica is lent. It says what to claim, takes the answers, and notices by the clock that a lease is over;
 * {@link ClusterShares} does the talking.
 *
 * <p>The limit never uses more than the engine has recorded: it has fewer permits before the engine is told that it needs fewer, and
 * more after the engine has lent them.
 */
final class ClusterShare extends PermitLease {

    /** An epoch that no engine has: who was alone says by it that others may have been, too. */
    private static final String ALONE = "alone";

    /** So many short waits must pass without an answer, each on time, before the engine counts as away. */
    private static final int PATIENCE = 5;

    private final TaskLimit limit;
    private final String member;
    private final OnFailure usually;
    private final IntSupplier replicas;
    private final long lease;
    private final long valid; // a part of the lease: clocks do not run equally fast
    private final long step;
    private final LongSupplier clock;
    private final LongSupplier beat;
    private final Runnable ask;
    private final ReentrantLock lock = new ReentrantLock();

    private volatile Engine engine = Engine.LOST; // written under the lock, as all that follows
    private volatile long validUntil;
    private volatile boolean away; // the engine has been asked since, and could not be reached
    private volatile boolean asked = true; // has something to tell that cannot wait for the beat
    private volatile boolean nothingMore; // at this moment; only the beat asks again
    private volatile int members;
    private @Nullable Answer last;
    private long answeredAt;
    private long since;
    private long busyAt;
    private long claimedAt;
    private int waits = PATIENCE;
    private long due;
    private long number; // of the last claim
    private boolean without; // the last claim was made without a lease
    private boolean left;
    private boolean refused; // an exchange has failed: there is no point in waiting for a first answer
    private long completed;

    /**
     * Creates the share of a limit.
     *
     * @param clock time in nanoseconds
     * @param replicas how many there are, as far as this replica knows without an answer for this share; 0 if it does not know
     * @param beat time between two exchanges in nanoseconds
     * @param ask starts an exchange soon, without blocking
     */
    ClusterShare(
            TaskLimit limit,
            String member,
            ClusterSettings settings,
            LongSupplier clock,
            IntSupplier replicas,
            LongSupplier beat,
            Runnable ask) {
        super(limit);
        this.limit = limit;
        this.member = member;
        this.usually = settings.onFailure();
        this.replicas = replicas;
        this.lease = settings.lease().toNanos();
        this.valid = lease - lease / 10;
        this.step = Math.min(lease / 3, TimeUnit.SECONDS.toNanos(1)) / PATIENCE;
        this.clock = clock;
        this.beat = beat;
        this.ask = ask;
        this.since = clock.getAsLong();
        this.due = since + step();
        this.busyAt = since;
        this.claimedAt = since;
    }

    /** The limit asks this share from now on. */
    void start() {
        begin();
    }

    /** Begins while the engine is known to be away. Nobody else knows this share yet. */
    void beginAway() {
        away = true;
        waits = 1;
    }

    boolean isAway() {
        return away;
    }

    /** By the clock, at each grant: after this JVM has stood still, whatever should have noticed it comes too late. */
    @Override
    protected boolean isValid() {
        Engine present = engine;
        return present == Engine.ALONE || (present == Engine.LENT && clock.getAsLong() - validUntil < 0);
    }

    @Override
    protected boolean isRefused() {
        return away && onFailure() == OnFailure.REJECT && !isValid();
    }

    @Override
    protected void wanted() {
        if (!nothingMore) {
            askNow();
        }
    }

    private void askNow() {
        asked = true;
        ask.run();
    }

    /** What to tell the engine. The limit has given up already what it is not fair to keep. */
    Claim claim() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            endLease(now);
            asked = false;
            claimedAt = now;
            without = engine != Engine.LENT;
            int wants = wantedSinceLast();
            if (wants > 0 || hasCompleted()) {
                busyAt = now;
            }
            int asks = asks(wants, now);
            int most =
                    engine == Engine.LENT ? asks : most(); // what is not claimed must not be used, whatever is resized
            if (share() > most) {
                share(most);
            }
            left = false;
            return claim(wants, asks, Duration.ofNanos(lease));
        } finally {
            lock.unlock();
        }
    }

    /** Whether calls have begun and ended since the last claim, which none of them may have seen. */
    private boolean hasCompleted() {
        long before = completed;
        completed = limit.completed();
        return completed != before;
    }

    /** No call begins any more: what runs is claimed for one more lease, everything else is free for others at once. */
    Claim goodbye() {
        lock.lock();
        try {
            lose(clock.getAsLong());
            left = true;
            return claim(0, 0, held() == 0 ? Duration.ZERO : Duration.ofNanos(lease));
        } finally {
            lock.unlock();
        }
    }

    private Claim claim(int wants, int asks, Duration time) {
        String epoch = last == null ? "" : last.epoch();
        return new Claim(
                LimitNames.uniform(limit.name()),
                member,
                ++number,
                engine == Engine.ALONE ? ALONE : epoch,
                permits(),
                held(),
                wants,
                asks,
                time);
    }

    /** As this replica is configured. */
    private int permits() {
        Integer permits = limit.clusterPermits();
        return permits == null ? limit.permits() : permits;
    }

    private int asks(int wants, long now) {
        Answer told = last;
        if (told == null) {
            return wants;
        }
        if (isIdle(claimedAt)) { // however long the answer has taken
            return 0;
        }
        Map<String, Integer> all = new TreeMap<>();
        told.others().forEach(other -> all.put(other.member(), other.wants()));
        all.put(member, wants);
        int permits = Math.min(told.permits(), permits());
        long time = told.now() + TimeUnit.NANOSECONDS.toMillis(now - answeredAt);
        return Math.min(
                most(), Shares.fair(all, member, permits, time, TimeUnit.NANOSECONDS.toMillis(beat.getAsLong())));
    }

    /** The settings of a limit may change. */
    private OnFailure onFailure() {
        OnFailure own = limit.settings().onFailure();
        return own == null ? usually : own;
    }

    /** Without calls for a while, it leaves all permits to others; not if a call could not wait until it has some again. */
    private boolean isIdle(long now) {
        return now - busyAt > lease / 3 && limit.queueCapacity() > 0;
    }

    /**
     * Uses what is lent. An answer that comes when its own lease is over is none.
     *
     * @param sent time at which the claim was made
     * @return whether it came in time
     */
    boolean answered(Claim claim, Answer answer, long sent) {
        lock.lock();
        try {
            long now = clock.getAsLong();
            if (left || now - (sent + valid) >= 0) {
                return false;
            }
            last = answer;
            answeredAt = now;
            members = answer.others().size() + 1;
            validUntil = sent + valid;
            become(Engine.LENT, now);
            away = false;
            waits = PATIENCE;
            int heldByOthers =
                    answer.others().stream().mapToInt(Answer.Other::holds).sum();
            int free = Math.max(0, answer.permits() - heldByOthers);
            int fair = asks(claim.wants(), now);
            int use = Math.min(Math.min(answer.share(), free), fair);
            nothingMore = use < claim.wants() || use >= most();
            share(use);
            // what was not asked for because the others were not known, or what others may have from now on
            if (claim.asks() < Math.min(fair, free) || held() < answer.share()) {
                askNow();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The engine could not be reached, or refused. */
    void failed() {
        lock.lock();
        try {
            away |= without && !left && !isValid(); // a pause of this JVM ends what was under way, too
            nothingMore = true;
            if (!refused && last == null) {
                refused = true;
                beginToWait(clock.getAsLong());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Looks at the clock. */
    void look() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            endLease(now);
            if (engine == Engine.LOST && waits > 0 && now - due >= 0) {
                waits = now - due > step() ? PATIENCE : waits - 1; // came late: this JVM has stood still again
                due = now + step();
                if (waits == 0) {
                    away = true;
                    goAlone(now);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The first exchange opens the connection, which may take seconds on a busy machine: an answer has a whole lease. */
    private long step() {
        return last == null && !refused ? lease / PATIENCE : step;
    }

    private void beginToWait(long now) {
        waits = PATIENCE;
        due = now + step();
    }

    /** That a lease is over does not show that the engine is away: perhaps this JVM has stood still. So it is asked first. */
    private void endLease(long now) {
        if (engine == Engine.LENT && now - validUntil >= 0) {
            lose(now);
        }
    }

    private void lose(long now) {
        become(Engine.LOST, now);
        beginToWait(now);
        nothingMore = false;
        asked = true;
        share(0);
    }

    private void goAlone(long now) {
        int part = part();
        if (onFailure() == OnFailure.LOCAL_SHARE && part >= 0) {
            become(Engine.ALONE, now);
            share(part);
        }
    }

    /** An equal part for each replica that was there last; negative if it has never reached the engine, and is not told how many. */
    private int part() {
        Answer told = last;
        if (told == null) {
            int members = replicas.getAsInt();
            return members == 0 ? -1 : permits() / members;
        }
        int members = told.others().size() + 1;
        int permits = Math.min(permits(), told.permits());
        return permits / members + (place(told) < permits % members ? 1 : 0);
    }

    private long place(Answer told) {
        return told.others().stream()
                .filter(other -> other.member().compareTo(member) < 0)
                .count();
    }

    private void become(Engine next, long now) {
        if (engine != next) {
            engine = next;
            since = now;
        }
    }

    /** In how many nanoseconds it wants to be looked at again. */
    long untilLook() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            return switch (engine) {
                case LENT -> validUntil - now;
                case LOST -> waits > 0 ? due - now : Long.MAX_VALUE;
                case ALONE -> Long.MAX_VALUE;
            };
        } finally {
            lock.unlock();
        }
    }

    /** In how many nanoseconds it has something to tell: at the beat; without calls, often enough to keep its lease. */
    long untilClaim() {
        lock.lock();
        try {
            if (asked) {
                return 0;
            }
            long now = clock.getAsLong();
            // what could not be told, or lent, is for the next beat: a call that comes does not ask
            boolean slow = engine == Engine.LENT && !nothingMore && share() == 0 && held() == 0 && isIdle(now);
            long pause = beat.getAsLong();
            return claimedAt + (slow ? Math.max(pause, lease / 3) : pause) - now;
        } finally {
            lock.unlock();
        }
    }

    /** How many replicas share the limit, as the engine answered last; 0 before that. Takes no lock. */
    int members() {
        return members;
    }

    /** Whether it has ever told the engine anything. */
    boolean isKnown() {
        lock.lock();
        try {
            return number > 0;
        } finally {
            lock.unlock();
        }
    }

    /** What its calls do, as in {@code limit 'partner' goes on alone with 7 of 20 permits}: soon, if the engine has just been lost. */
    String describe() {
        lock.lock();
        try {
            String name = "limit '%s'".formatted(limit.name());
            if (engine == Engine.LENT) {
                return "%s has %d of %d permits".formatted(name, share(), permits());
            }
            return name
                    + switch (onFailure()) {
                        case REJECT -> " rejects new calls";
                        case WAIT -> " lets its calls wait";
                        case LOCAL_SHARE ->
                            part() < 0
                                    ? " lets its calls wait, because this replica does not know how many there are: set"
                                            + " virtual-thread.cluster.replicas"
                                    : " goes on alone with %d of %d permits".formatted(part(), permits());
                    };
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected ClusterState state() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            Answer told = last;
            List<Member> members = new ArrayList<>();
            int permits = permits();
            members.add(new Member(member, held(), limit.inUse() + limit.waiting(), permits));
            if (told != null) {
                permits = Math.min(permits, told.permits());
                told.others()
                        .forEach(other ->
                                members.add(new Member(other.member(), other.holds(), other.wants(), other.permits())));
                members.sort(Comparator.comparing(Member::name));
            }
            long leaseLeft = engine == Engine.LENT ? Math.max(0, validUntil - now) : 0;
            return new ClusterState(
                    engine == Engine.LENT && leaseLeft == 0 ? Engine.LOST : engine,
                    Duration.ofNanos(now - since),
                    permits,
                    Duration.ofNanos(leaseLeft),
                    members);
        } finally {
            lock.unlock();
        }
    }
}
