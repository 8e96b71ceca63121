package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One call that asks a limit for a permit: waits in its queue, gets the permit at most once, gives it back once.
 *
 * <p>It is its own node in the queue, so that leaving the queue needs no search and waiting costs no second object.
 */
@Internal
public abstract class PermitRequest extends LinkedNodes.Node<PermitRequest> {

    private static final byte QUEUED = 1;
    private static final byte HOLDING = 2;
    private static final byte RUNNING = 3;
    private static final byte OVER = 4;
    private static final byte REPORTED = 5;

    /** As {@link #HOLDING} and {@link #RUNNING}, under the permit of another request. */
    private static final byte BORROWING = 6;

    private static final byte RUNNING_BORROWED = 7;

    /** The first of one phase for each reason: it is over, and that is why. */
    private static final byte REJECTED = 8;

    /** Added once a thread has begun to report that. */
    private static final byte REPORTING = 64;

    private static final Reason[] REASONS = Reason.values();
    private static final VarHandle PHASE = byteField(MethodHandles.lookup(), "phase");

    private volatile byte phase; // 0: has not asked yet

    /** When the request was made, if that was noted, later when it joined the queue. In the queue these times ascend. */
    long joinedAt;

    /** Creates a request that has not asked yet. */
    protected PermitRequest() {}

    /**
     * Gives atomic access to a field.
     *
     * @param lookup of the class that has it
     * @param name its name
     * @return access to that field of all objects
     */
    protected static VarHandle byteField(MethodHandles.Lookup lookup, String name) {
        try {
            return lookup.findVarHandle(lookup.lookupClass(), name, byte.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /**
     * The limit that is asked for a permit, always the same.
     *
     * @return the limit, null if the request needs no permit
     */
    protected abstract @Nullable TaskLimit limit();

    /**
     * What only some requests have: a key, or a permit of a limit around theirs. Always the same.
     *
     * @return place of this request alone, null here
     */
    protected @Nullable KeyedPlace place() {
        return null;
    }

    /**
     * The requests that wait at this moment, in the order in which they came. Holds up the limit while it copies them.
     *
     * @param limit limit that they ask
     * @param most maximum number of requests, those that have waited longest
     * @return waiting requests; they may have gone on meanwhile
     */
    public static List<PermitRequest> waiting(TaskLimit limit, int most) {
        return PermitGate.of(limit).waiting(most);
    }

    /**
     * Looks for one of the requests that wait. Copies nothing, and holds up the limit while it looks.
     *
     * @param limit limit that they ask
     * @param wanted whether a request is the one; called under the lock of the limit
     * @return the first in the queue that is wanted; it may have gone on meanwhile
     */
    public static Optional<PermitRequest> findWaiting(TaskLimit limit, Predicate<PermitRequest> wanted) {
        return PermitGate.of(limit).find(wanted);
    }

    final @Nullable PermitGate gate() {
        TaskLimit limit = limit();
        return limit == null ? null : PermitGate.of(limit);
    }

    /**
     * Asks for the permit, once. Never blocks. The answer is {@link #granted()}, now or later, {@link #reportRejected} later, or a
     * reason that is returned. If the timer for the maximum wait gets no thread, this throws, and the request neither waits
     * nor is granted.
     *
     * @param longest nanoseconds for which it may wait because of its deadline; the maximum value for no maximum
     * @return why the request was refused, null if it was not
     */
    protected final @Nullable Reason ask(long longest) {
        PermitGate gate = gate();
        if (gate != null) {
            return gate.admit(this, longest);
        }
        borrowOrGrant(HOLDING);
        return null;
    }

    /**
     * Uses a permit that another request holds, which the limit does not notice. Instead of {@link #ask}, or after {@link
     * #leaveQueue()}. Never blocks. The holder must not use its permit until this request has given it back.
     */
    protected final void borrow() {
        borrowOrGrant(BORROWING);
    }

    private void borrowOrGrant(byte granted) {
        if (!grant(granted)) {
            reportSoon();
        }
    }

    /**
     * The request has its permit. Called on the thread that asked, or on any thread that gave a permit back, asked for one, or
     * changed the limit. Must neither block nor run the body of the call.
     */
    protected abstract void granted();

    /**
     * {@link #granted()} has thrown, and the permit is about to go to another request. Must neither block nor throw: only keeps
     * the failure for {@link #reportRejected}.
     *
     * @param failure what {@link #granted()} threw
     */
    protected abstract void onStartFailed(Throwable failure);

    /**
     * The limit is about to reject the request, perhaps among a million others: releases what is not needed for the report. Must
     * neither block nor throw, and must need no memory. Does nothing here.
     *
     * @param reason why
     */
    protected void onRejected(Reason reason) {}

    /**
     * The request gets no permit, or could not use it, and the next request has that. Reports it to whoever waits for the outcome,
     * on a thread that does nothing else. May block, must not throw. If memory was short, this may be called twice.
     *
     * @param reason why the limit has rejected it; null if it could not be started, see {@link #onStartFailed}
     */
    protected abstract void reportRejected(@Nullable Reason reason);

    /**
     * As {@link #reportRejected} without a reason, on another thread: nobody else reports a request that asked no limit. Does not
     * block.
     */
    protected abstract void reportSoon();

    /** The request is only in the queue of rejections now; the reason is null if a permit could not be used. */
    @SuppressWarnings("EnumOrdinal") // a field for the reason would make each call 8 bytes larger
    final void rejecting(@Nullable Reason reason) {
        if (reason != null) {
            PHASE.setRelease(this, (byte) (REJECTED + reason.ordinal()));
            onRejected(reason);
        }
    }

    /** A thread begins to report it, or it is known that another one does. */
    final boolean isReporting() {
        byte now = phase;
        return now == REPORTED || now >= REPORTING;
    }

    final boolean hasClaimed() {
        return phase == REPORTED;
    }

    /** Returns whether the current thread is the one that reports it. */
    final boolean reporting() {
        byte before = phase;
        return before != REPORTED
                && before < REPORTING
                && PHASE.compareAndSet(this, before, (byte) (before + REPORTING));
    }

    /** Another thread may report it. Returns false if it has claimed its report. */
    final boolean reportsAgain() {
        byte before = phase;
        return before >= REPORTING && PHASE.compareAndSet(this, before, (byte) (before - REPORTING));
    }

    /** Reports how it ended, unless that was claimed before. */
    final void report() {
        int why = phase % REPORTING;
        if (why == OVER || why >= REJECTED) {
            reportRejected(reason());
        }
    }

    /**
     * The requests that were rejected, or could not be started, and that nobody has begun to report, or has not claimed.
     *
     * @param limit limit that they asked
     * @return requests of this limit, and of those within it or around it
     */
    public static List<PermitRequest> unreported(TaskLimit limit) {
        return PermitGate.of(limit).unreported();
    }

    /**
     * Why the limit has rejected the request.
     *
     * @return the reason, null if it was not rejected, or has claimed its report
     */
    protected final @Nullable Reason reason() {
        int why = phase % REPORTING;
        return why >= REJECTED ? REASONS[why - REJECTED] : null;
    }

    /**
     * Whether the thread that asks runs a body that holds a permit of the same limit, or of one around it, which the request
     * needs as well. Called on that thread, and only if the limit may be full.
     *
     * @return whether the wait could last forever
     */
    protected boolean isNested() {
        return false;
    }

    /** The request waits although it {@link #isNested()}. Called on the thread that asks, after the request joined the queue. */
    protected void waitsNested() {}

    /** Notes this moment as the one from which the request waits, before it is known whether it has to. */
    protected final void joins() {
        joinedAt = System.nanoTime();
    }

    /**
     * When the request was made or joined the queue.
     *
     * @return time by {@link System#nanoTime()}; 0 if it has not joined the queue and nobody has noted the time
     */
    protected final long joinedAt() {
        return joinedAt;
    }

    /**
     * Leaves the queue.
     *
     * @return whether the request was still waiting: then it is never granted and never rejected
     */
    public final boolean leaveQueue() {
        PermitGate gate = gate();
        return gate != null && phase == QUEUED && gate.remove(this);
    }

    /**
     * Rejects the request if it still waits. Never blocks, and runs no code of the application: {@link #reportRejected} follows on
     * another thread. If memory is short, this throws, and may be called again.
     *
     * @param reason why
     * @return whether the request was waiting
     */
    public final boolean rejectWaiting(Reason reason) {
        PermitGate gate = gate();
        byte now = phase;
        return gate != null && (now == QUEUED || now >= REJECTED) && gate.reject(this, reason);
    }

    /**
     * Whether the request has its permit: granted and not given back.
     *
     * @return whether the limit counts this call as running
     */
    public final boolean holdsPermit() {
        byte now = phase;
        return hasOwnPermit(now) || isBorrower(now);
    }

    /**
     * Whether the request asks for a permit of that limit.
     *
     * @param wanted limit of this request, or one around it
     * @return false also if its thread held a permit of that limit before
     */
    public final boolean takesPermitOf(TaskLimit wanted) {
        TaskLimit own = limit();
        KeyedPlace place = place();
        TaskLimit before = place == null ? null : place.held;
        return own != null && own.includes(wanted) && (before == null || !before.includes(wanted));
    }

    private static boolean hasOwnPermit(byte phase) {
        return phase == HOLDING || phase == RUNNING;
    }

    private static boolean isBorrower(byte phase) {
        return phase == BORROWING || phase == RUNNING_BORROWED;
    }

    /**
     * Begins to use the permit, on the thread that {@link #granted()} has started. The JDK may report that a thread could not be
     * started although it runs: then either this returns false, or the failure is ignored.
     *
     * @return whether the request still has its permit; then only the current thread gives it back
     */
    protected final boolean takeUp() {
        return PHASE.compareAndSet(this, HOLDING, RUNNING) || PHASE.compareAndSet(this, BORROWING, RUNNING_BORROWED);
    }

    /**
     * Claims to report that the request gets no permit, which may be asked for twice.
     *
     * @return whether this is the first time
     */
    protected final boolean claimReport() {
        for (byte before = phase; before != REPORTED; before = phase) {
            if (PHASE.compareAndSet(this, before, REPORTED)) {
                PermitGate gate = gate();
                if (gate != null) {
                    gate.claimed(this, before >= REPORTING);
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Gives the permit back, which grants it to the next request in the queue. Does nothing if it was given back before.
     * Called by one thread only. Throws nothing.
     */
    protected final void giveBack() {
        byte before = phase;
        if (hasOwnPermit(before) || isBorrower(before)) {
            PHASE.setRelease(this, OVER);
            PermitGate gate = gate();
            if (gate != null && !isBorrower(before)) {
                gate.release(this);
            }
        }
    }

    /**
     * Hands the permit over; returns whether the request can use it. If not, the caller gives the permit to the limit, and calls
     * {@link #reportRejected} only after that.
     */
    final boolean grant() {
        return grant(HOLDING);
    }

    private boolean grant(byte granted) {
        PHASE.setRelease(this, granted);
        try {
            granted();
            return true;
        } catch (Throwable failure) {
            boolean unusable = PHASE.compareAndSet(this, granted, OVER);
            if (unusable) {
                onStartFailed(failure);
            }
            return !unusable;
        }
    }

    final boolean isQueued() {
        return phase == QUEUED;
    }

    final void queued(boolean waiting) {
        PHASE.setRelease(this, waiting ? QUEUED : OVER);
    }
}
