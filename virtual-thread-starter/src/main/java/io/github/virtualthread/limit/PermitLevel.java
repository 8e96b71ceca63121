package io.github.virtualthread.limit;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Permits and queue of one limit, among the limits around it and inside it. A call takes a permit of its own level and of all
 * around it at once, or none. Where its thread holds one of a level around, it takes those below that one.
 *
 * <p>Unless it says otherwise, everything needs the lock, which all levels share.
 */
final class PermitLevel {

    private static final PermitLevel[] NONE = {};

    private final TaskLimit limit;
    final @Nullable PermitLevel around;
    private volatile PermitLevel[] inside = NONE;
    final Permits permits;
    final WaitQueue queue;
    private final StripedCount completed = new StripedCount();

    /**
     * Whether a call has found no permit free, and none has come free since that nobody waited for. While it is not set, nobody waits.
     * A free permit leaves it as it is, whoever takes that permit clears it: giving back costs nothing.
     */
    volatile boolean full;

    /** Since when it is full, by {@link System#nanoTime}; written before that, read after it. */
    long fullSince;

    PermitLevel(TaskLimit limit, Permits permits, @Nullable PermitLevel around) {
        this.limit = limit;
        this.around = around;
        this.permits = permits;
        this.queue = new WaitQueue(limit::permitsPerKey);
    }

    void add(PermitLevel levelInside) {
        PermitLevel[] more = Arrays.copyOf(inside, inside.length + 1);
        more[inside.length] = levelInside;
        inside = more;
    }

    /** Whether there is no other level. Needs no lock. */
    boolean isAlone() {
        return around == null && inside.length == 0;
    }

    /** Needs no lock. */
    PermitLevel outermost() {
        PermitLevel outermost = this;
        while (outermost.around != null) {
            outermost = outermost.around;
        }
        return outermost;
    }

    /** For how many nanoseconds calls have found no permit, here or around; 0 if they would find one. Needs no lock. */
    long saturated() {
        // the permits first: the time could be from long ago, and a permit free until just now
        boolean free = isFree(null);
        return free || !full ? 0 : Math.max(1, System.nanoTime() - fullSince);
    }

    /** Since when it has been full, 0 if it is not, or if nobody could get a permit, here or around. */
    long fullSince() {
        return full && !isClosed() ? fullSince : 0;
    }

    boolean isClosed() {
        return limit.isOccupied() || limit.lent() == 0 || (around != null && around.isClosed());
    }

    long completed() {
        return completed.sum();
    }

    /** A call has ended that had taken permits. Needs no lock. */
    void complete(@Nullable KeyedPlace place) {
        TaskLimit held = held(place);
        for (PermitLevel each = this; each != null && each.limit != held; each = each.around) {
            each.completed.increment();
        }
    }

    void change(int morePermits, int permitsPerKey) {
        outermost().clearWhereFree(); // or they would look full once their free permits are gone
        permits.add(morePermits);
        KeyTurns turns = queue.turns();
        if (turns != null) {
            turns.setPermitsPerKey(permitsPerKey);
        }
    }

    /** Takes permits only while nobody waits who could go, so that nobody is overtaken. */
    boolean take(@Nullable KeyedPlace place) {
        if (!queue.mayRun(place)) {
            return false; // there may be free permits
        }
        TaskLimit held = held(place);
        boolean taken = isNobodyBefore(held) && isFree(held);
        if (taken) {
            // before the permit is gone: nobody may see it gone, and the time of what is over
            outermost().clearWhereFree();
            taken = acquire(held);
        }
        if (taken) {
            queue.granted(place);
        } else {
            noteFull(held);
        }
        return taken;
    }

    private boolean isNobodyBefore(@Nullable TaskLimit held) {
        if (held != null) {
            return outermost().nextHolding() == null;
        }
        return !queue.isAnyReady() && (isAlone() || outermost().next() == null);
    }

    /** Notes of this level and those inside, as far as a call would find permits, that they are not full. */
    private void clearWhereFree() {
        if (permits.availablePermits() > 0) {
            clearUnlessAwaited();
            for (PermitLevel each : inside) {
                each.clearWhereFree();
            }
        }
    }

    private boolean isFree(@Nullable TaskLimit held) {
        return free(held) > 0;
    }

    /** How many requests find a permit of each level, up to the one that they hold. */
    private int free(@Nullable TaskLimit held) {
        int free = Integer.MAX_VALUE;
        for (PermitLevel each = this; each != null && each.limit != held; each = each.around) {
            free = Math.min(free, each.permits.availablePermits());
        }
        return free;
    }

    /** Whether permits are free for a request and for all who go before it, as they are about to. */
    boolean suffices(@Nullable KeyedPlace place) {
        return queue.mayRun(place) && free(held(place)) > outermost().ready();
    }

    /**
     * Takes a permit of each level, or none. The outermost comes first: its permits alone may be taken without the lock, by calls
     * that came before a limit lay within it. A lease may end, by the clock, after its permits were seen.
     */
    private boolean acquire(@Nullable TaskLimit held) {
        if (limit == held) {
            return true;
        }
        if (around != null && !around.acquire(held)) {
            return false;
        }
        boolean acquired = permits.tryAcquire();
        if (!acquired && around != null) {
            around.release(held);
        }
        return acquired;
    }

    private void release(@Nullable TaskLimit held) {
        for (PermitLevel each = this; each != null && each.limit != held; each = each.around) {
            each.permits.release();
        }
    }

    /** A call has found no permit, here or around, and waits or was refused. Needs no lock. */
    void missed(boolean refused) {
        for (PermitLevel each = this; each != null; each = each.around) {
            each.permits.missed(refused);
        }
    }

    /** The number of permits has changed: those who lend to this level, or to one inside, are notified. Needs no lock. */
    void changed() {
        permits.changed();
        for (PermitLevel each : inside) {
            each.changed();
        }
    }

    /** Whether a call that finds no permit is refused, because nobody lends any here or around. */
    boolean isRefused() {
        return permits.isRefused() || (around != null && around.isRefused());
    }

    /** How many of the waiting calls, here and inside, could go if this level had permits for all of them. */
    int ready() {
        int ready = queue.ready();
        for (PermitLevel each : inside) {
            ready += Math.min(Math.max(0, each.permits.left()), each.ready());
        }
        return ready;
    }

    private void noteFull(@Nullable TaskLimit held) {
        for (PermitLevel each = this; each != null && each.limit != held; each = each.around) {
            if (!each.full && (each == this || each.permits.availablePermits() <= 0)) {
                each.fullSince = System.nanoTime();
                each.full = true;
            }
        }
    }

    /** Gives back what a call has taken. */
    void giveBack(@Nullable KeyedPlace place) {
        release(held(place));
        queue.end(place);
    }

    /** The next of those that wait, here and inside, together with its permits; null if nobody could go. */
    @Nullable
    PermitRequest takeNext() {
        PermitRequest next = next();
        if (next == null) {
            noteFullWhereReady();
            return null;
        }
        PermitLevel its = Objects.requireNonNull(of(next.limit()));
        if (!its.acquire(held(next.place()))) {
            return takeNext(); // its lease has ended since it was seen, so another is the next
        }
        its.handTo(next);
        return next;
    }

    /** The level of a limit, this one or one inside. */
    private @Nullable PermitLevel of(@Nullable TaskLimit wanted) {
        PermitLevel found = limit == wanted ? this : null;
        for (int i = 0; found == null && i < inside.length; i++) {
            found = inside[i].of(wanted);
        }
        return found;
    }

    /** Calls that could not go for their key alone may have become ready while there are no permits. */
    private void noteFullWhereReady() {
        if (queue.isAnyReady()) {
            noteFull(null);
        }
        for (PermitLevel each : inside) {
            each.noteFullWhereReady();
        }
    }

    /** The next in the queue, for a permit that another call hands over; null if there are fewer permits than before. */
    @Nullable
    PermitRequest heir() {
        PermitRequest next = permits.availablePermits() < 0 ? null : queue.next();
        if (next != null) {
            handTo(next);
        }
        return next;
    }

    /** Takes the request out of the queue, since its permits are taken. */
    private void handTo(PermitRequest request) {
        TaskLimit held = held(request.place());
        queue.grant(request);
        for (PermitLevel each = this; each != null && each.limit != held; each = each.around) {
            each.clearUnlessAwaited();
        }
    }

    private void clearUnlessAwaited() {
        if (full && !isAwaited(limit)) {
            full = false;
        }
    }

    /** Who goes first of those that could go: who holds what others wait for, then who has waited longest. */
    private @Nullable PermitRequest next() {
        PermitRequest holding = isAlone() ? null : nextHolding();
        return holding == null ? nextFree() : holding;
    }

    private @Nullable PermitRequest nextHolding() {
        PermitRequest next = queue.firstHolding();
        while (next != null && !(queue.mayRun(next.place()) && isFree(held(next.place())))) {
            next = next.next;
        }
        for (PermitLevel each : inside) {
            next = WaitQueue.older(next, each.nextHolding());
        }
        return next;
    }

    private @Nullable PermitRequest nextFree() {
        if (permits.availablePermits() <= 0) {
            return null;
        }
        PermitRequest next = queue.next();
        for (PermitLevel each : inside) {
            next = WaitQueue.older(next, each.nextFree());
        }
        return next;
    }

    /** Whether a call waits, here or inside, that needs a permit of that limit. */
    private boolean isAwaited(TaskLimit wanted) {
        boolean awaited = queue.isAnyReady();
        for (PermitRequest each = queue.firstHolding(); each != null; each = each.next) {
            awaited |= queue.mayRun(each.place()) && each.takesPermitOf(wanted);
        }
        for (PermitLevel each : inside) {
            awaited |= each.isAwaited(wanted);
        }
        return awaited;
    }

    private static @Nullable TaskLimit held(@Nullable KeyedPlace place) {
        return place == null ? null : place.held;
    }
}
