package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether permits are lent to this replica, by its clock alone. Knows no limit and has no lock: its owner does not call two methods
 * at the same time, except {@link #isValid()} and {@link #isAway()}.
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>from<th>when<th>to
 * <tr><td>any<td>an answer comes in time<td>LENT
 * <tr><td>LENT<td>nine tenths of the lease have passed, or the replica leaves<td>LOST, patient
 * <tr><td>LOST, patient<td>five waits have passed on time without an answer<td>LOST, away
 * <tr><td>LOST, away<td>two leases have passed since the last answer, if the owner goes on alone<td>ALONE
 * </table>
 */
final class Lease {

    /** So many short waits must pass without an answer, each on time, before the engine counts as away. */
    private static final int WAITS_UNTIL_AWAY = 5;

    private final long length;
    private final long valid; // a part of it: clocks do not run equally fast
    private final long step;
    private final LongSupplier clock;

    private volatile Lending lending = Lending.LOST;
    private volatile long validUntil;
    private volatile boolean away; // the engine has been asked since, and could not be reached
    private long since;
    private long answeredAt; // or its beginning
    private int waits = WAITS_UNTIL_AWAY;
    private long due;
    private boolean wasAnswered;
    private boolean hasFailed; // an exchange has failed: there is no point in waiting for a first answer
    private boolean wasWithout; // at the last claim

    /**
     * Creates a lease that has not begun.
     *
     * @param length how long permits are lent
     * @param clock time in nanoseconds
     */
    Lease(Duration length, LongSupplier clock) {
        this.length = length.toNanos();
        this.valid = this.length - this.length / 10;
        this.step = Math.min(this.length / 3, TimeUnit.SECONDS.toNanos(1)) / WAITS_UNTIL_AWAY;
        this.clock = clock;
        this.since = clock.getAsLong();
        this.answeredAt = since;
        this.due = since + step();
    }

    /** Begins while the engine is known to be away. */
    void beginAway() {
        away = true;
        waits = 1;
    }

    /** After a goodbye: what others have been lent since is not known. */
    void beginAgain() {
        answeredAt = clock.getAsLong();
    }

    Lending lending() {
        return lending;
    }

    /** By the clock, also if nobody has noticed yet that the lease is over. */
    boolean isValid() {
        Lending present = lending;
        return present == Lending.ALONE || (present == Lending.LENT && clock.getAsLong() - validUntil < 0);
    }

    boolean isAway() {
        return away;
    }

    /** How long it has been as it is, in nanoseconds. */
    long sinceNanos(long now) {
        return now - since;
    }

    /** How long permits are still lent, in nanoseconds; 0 if they are not. */
    long left(long now) {
        return lending == Lending.LENT ? Math.max(0, validUntil - now) : 0;
    }

    /** A claim is made. Without a lease, that it fails shows that the engine is away. */
    void claim() {
        wasWithout = lending != Lending.LENT;
    }

    /**
     * An answer has come.
     *
     * @param sent time at which its claim was made
     * @return whether it came in time; an answer that comes when its own lease is over is none
     */
    boolean lend(long sent) {
        long now = clock.getAsLong();
        if (now - (sent + valid) >= 0) {
            return false;
        }
        wasAnswered = true;
        validUntil = sent + valid;
        answeredAt = now;
        become(Lending.LENT, now);
        away = false;
        waits = WAITS_UNTIL_AWAY;
        return true;
    }

    /** The exchange has failed. A pause of this JVM ends exchanges, too: so it counts only without a lease. */
    void fail() {
        away |= wasWithout && !isValid();
        if (!hasFailed && !wasAnswered) {
            hasFailed = true;
            beginToWait(clock.getAsLong());
        }
    }

    /** That a lease is over does not show that the engine is away: this JVM may have stood still. So it is asked first. */
    boolean endIfOver() {
        boolean over = lending == Lending.LENT && !isValid();
        if (over) {
            end();
        }
        return over;
    }

    void end() {
        long now = clock.getAsLong();
        become(Lending.LOST, now);
        beginToWait(now);
    }

    /** Looks at the clock: after five waits without an answer the engine counts as away. */
    void look() {
        long now = clock.getAsLong();
        if (lending != Lending.LOST || waits == 0 || now - due < 0) {
            return;
        }
        waits = now - due > step() ? WAITS_UNTIL_AWAY : waits - 1; // came late: this JVM has stood still again
        due = now + step();
        away |= waits == 0;
    }

    /**
     * Whether the owner may go on alone. The engine keeps its part free from one lease after the last answer on; whoever had borrowed
     * of it before that has given it back another lease later.
     */
    boolean mayBeAlone() {
        return lending == Lending.LOST && away && untilAlone(clock.getAsLong()) <= 0;
    }

    private long untilAlone(long now) {
        return answeredAt + 2 * length - now;
    }

    void goAlone() {
        become(Lending.ALONE, clock.getAsLong());
    }

    /** In how many nanoseconds somebody must look at the clock. */
    long untilLook(long now) {
        if (lending == Lending.LENT) {
            return validUntil - now;
        }
        if (lending == Lending.LOST && waits > 0) {
            return due - now;
        }
        boolean isOver = lending == Lending.ALONE || untilAlone(now) <= 0;
        return isOver ? Long.MAX_VALUE : untilAlone(now);
    }

    /** The first exchange opens the connection, which may take seconds on a busy machine: an answer has a whole lease. */
    private long step() {
        return wasAnswered || hasFailed ? step : length / WAITS_UNTIL_AWAY;
    }

    private void beginToWait(long now) {
        waits = WAITS_UNTIL_AWAY;
        due = now + step();
    }

    private void become(Lending next, long now) {
        if (lending != next) {
            lending = next;
            since = now;
        }
    }
}
