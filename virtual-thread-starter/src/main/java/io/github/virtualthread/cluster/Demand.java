package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What this replica wants of a limit: how many permits are fair, by the last answer, and when to claim again. Knows nothing of
 * leases, and has no lock: its owner does not call two methods at the same time, except {@link #want()} and {@link #restart()}.
 */
final class Demand {

    private final TaskLimit limit;
    private final String member;
    private final long lease;
    private final LongSupplier beat;

    private volatile boolean urgent = true; // has something to tell that cannot wait for the beat
    private volatile boolean missed; // a call has found no permit since the last claim
    private volatile boolean inVain; // at this moment there is nothing more: a call that finds no permit does not ask
    private @Nullable Answer last;
    private long answeredAt;
    private long claimedAt;
    private long busyAt;
    private long completed;
    private long growsAt; // when shares grow again
    private boolean failed;
    private boolean isHungry; // wants one of the permits that cannot be divided evenly
    private boolean hasTurn; // has one
    private long turnSince;

    /**
     * Creates the demand of a limit without calls.
     *
     * @param member name of this replica
     * @param lease how long permits are lent
     * @param beat time between two exchanges in nanoseconds
     * @param now present time in nanoseconds
     */
    Demand(TaskLimit limit, String member, Duration lease, LongSupplier beat, long now) {
        this.limit = limit;
        this.member = member;
        this.lease = lease.toNanos();
        this.beat = beat;
        this.busyAt = now;
        this.claimedAt = now;
        this.turnSince = now;
    }

    @Nullable
    Answer last() {
        return last;
    }

    /** Time since the last answer, in nanoseconds. */
    long age(long now) {
        return last == null ? 0 : now - answeredAt;
    }

    /** How long it has had one of the permits that cannot be divided evenly, or has wanted one, in nanoseconds. */
    long turn(long now) {
        return isHungry ? now - turnSince : 0;
    }

    /** A call has found no permit; returns whether to claim at once. */
    boolean want() {
        if (!inVain) {
            missed = true;
        }
        return isUrgent();
    }

    boolean isUrgent() {
        return urgent || missed;
    }

    /** What was known does not count any more: claims at once. */
    void restart() {
        inVain = false;
        urgent = true;
    }

    void fail() {
        inVain = true;
        failed = true;
    }

    /**
     * A claim is made.
     *
     * @param wanted number of calls that run and wait; those that come after it was asked count as missed
     * @return the same number
     */
    int claim(IntSupplier wanted, long now) {
        urgent = false;
        missed = false;
        int wants = wanted.getAsInt();
        claimedAt = now;
        growsAt = now;
        long before = completed;
        completed = limit.completed();
        if (wants > 0 || completed != before) {
            busyAt = now;
        }
        return wants;
    }

    /**
     * Uses an answer.
     *
     * @param counts permits at this moment; those of all replicas as they were claimed
     * @return number of permits to use from now on
     */
    int answer(Claim claim, Answer answer, PermitCounts counts, long now) {
        last = answer;
        answeredAt = now;
        if (answer.noGrowthFor().isZero()) {
            growsAt = claimedAt;
        } else {
            growsAt = now + answer.noGrowthFor().toNanos();
        }
        failed = false;
        int heldByOthers =
                answer.others().stream().mapToInt(Answer.Other::holds).sum();
        int free = Math.max(0, answer.lendable() - heldByOthers);
        int fair = asks(claim.wants(), counts, now);
        int use = Math.min(Math.min(answer.share(), free), fair);
        inVain = use < claim.wants() || use >= counts.most();
        if (inVain) {
            missed = false; // also for the calls that have come meanwhile
        }
        // what was not asked for because the others were not known, or what others may have from now on
        if (claim.asks() < Math.min(fair, free) && answer.noGrowthFor().isZero()) {
            urgent = true;
        }
        return use;
    }

    /** So many permits are in use after an answer. Others may have the rest from now on. */
    void use(int held, int recorded) {
        if (held < recorded) {
            urgent = true;
        }
    }

    /** How many permits it would like to hold; none without calls for a while, unless a call could not wait for the next one. */
    int asks(int wants, PermitCounts counts, long now) {
        Answer answer = last;
        if (answer == null) {
            return wants;
        }
        if (limit.queueCapacity() > 0 && claimedAt - busyAt > lease / 3) { // however long the answer has taken
            return 0;
        }
        Shares share = share(answer, wants, counts, now);
        boolean has = share.isHungry() && counts.held() > share.even();
        if (share.isHungry() != isHungry || has != hasTurn) {
            isHungry = share.isHungry();
            hasTurn = has;
            turnSince = now;
        }
        return Math.min(counts.most(), share.fair());
    }

    private Shares share(Answer answer, int wants, PermitCounts counts, long now) {
        long time = answer.now() + TimeUnit.NANOSECONDS.toMillis(now - answeredAt);
        long since = time - TimeUnit.NANOSECONDS.toMillis(turn(now));
        Answer.Other own = new Answer.Other(member, counts.held(), wants, counts.all(), since, time);
        List<Answer.Other> all =
                Stream.concat(answer.others().stream(), Stream.of(own)).toList();
        int inForce = Math.min(answer.lendable(), counts.all());
        return Shares.fair(all, member, inForce, time, TimeUnit.NANOSECONDS.toMillis(beat.getAsLong()));
    }

    /**
     * In how many nanoseconds to claim again, or to ask this again: at the beat while calls wait for permits, and while it has what
     * others want; otherwise often enough to keep the lease.
     *
     * @param isLent whether permits are lent
     * @param wanted number of calls that run and wait, at this moment
     */
    long untilClaim(boolean isLent, IntSupplier wanted, PermitCounts counts, long now) {
        if (isUrgent()) {
            return 0;
        }
        long nextBeat = claimedAt + beat.getAsLong() - now;
        Answer answer = last;
        int wants = wanted.getAsInt();
        int lent = counts.lent();
        if (!isLent || answer == null || failed || Math.max(wants, counts.held()) > lent) {
            return nextBeat;
        }
        int fair = share(answer, wants, counts, now).fair();
        boolean isScarce = lent > 0 && isScarce(answer, counts);
        if (lent > 1 + 2 * fair || (isScarce && (lent > fair || limit.completed() != completed))) {
            return nextBeat;
        }
        if (inVain && lent < counts.most()) {
            if (nextBeat > 0) {
                return nextBeat;
            }
            inVain = false;
            if (wanted.getAsInt() > lent) { // has come before that, and has not asked
                return nextBeat;
            }
        }
        long pause = Math.max(beat.getAsLong(), lease / 3);
        if (growsAt - claimedAt > 0) {
            pause = Math.min(pause, growsAt - claimedAt);
        }
        long next = claimedAt + pause - now;
        return isScarce && wants > 0 ? Math.min(next, beat.getAsLong()) : next; // calls may end
    }

    /** Others want more, or would find nothing if they did. */
    private static boolean isScarce(Answer answer, PermitCounts counts) {
        List<Answer.Other> others = answer.others();
        if (others.stream().anyMatch(other -> other.wants() > other.holds())) {
            return true;
        }
        long held =
                counts.lent() + others.stream().mapToLong(Answer.Other::holds).sum();
        return !others.isEmpty() && held >= Math.min(counts.all(), answer.lendable());
    }
}
