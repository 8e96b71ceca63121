package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Who gets a permit of a limit, and who waits: permits in a semaphore, waiting calls in a queue.
 *
 * <p>No wake-up is lost between "the queue is empty" and "a permit is free": who gives a permit back looks at the queue
 * afterwards, who joins the queue looks at the permits afterwards.
 *
 * <p>Limits that lie within each other have one lock. A call takes a permit of its own limit and of all around it at once, or
 * none: nobody who waits holds a permit. Of those who could go, the one that has waited longest goes first.
 */
final class Admission {

    private static final Admission[] NONE = {};

    private final SemaphoreLimit limit;
    private final @Nullable Admission around;
    private volatile Admission[] inside = NONE; // written under the lock
    private final BriefLock lock;
    private final Permits permits;
    private final WaitQueue queue = new WaitQueue();
    private final Expiry expiry; // guarded by lock
    private final RejectionQueue rejections;
    private final StripedCount completed = new StripedCount();

    /**
     * When a call found no permit free, by {@link System#nanoTime}; 0 once a permit came free that nobody waited for. Written
     * under the lock. A free permit leaves it as it is, whoever takes that permit clears it: giving back costs nothing.
     */
    volatile long fullSince;

    Admission(SemaphoreLimit limit, int permits, @Nullable SemaphoreLimit within, TaskTimer timer) {
        this.limit = limit;
        this.around = within == null ? null : within.admission;
        this.lock = around == null ? new BriefLock() : around.lock;
        this.rejections = around == null ? new RejectionQueue() : around.rejections;
        this.permits = new Permits(permits);
        this.expiry = new Expiry(queue, lock, timer, rejections, limit::maxWait);
        if (around != null) {
            around.add(this);
        }
    }

    private void add(Admission limitInside) {
        lock.lock();
        try {
            Admission[] more = Arrays.copyOf(inside, inside.length + 1);
            more[inside.length] = limitInside;
            inside = more;
        } finally {
            lock.unlock();
        }
    }

    BriefLock lock() {
        return lock;
    }

    int available() {
        return permits.availablePermits();
    }

    int waiting() {
        return queue.size();
    }

    long completed() {
        return completed.sum();
    }

    /** For how many nanoseconds calls have found no permit, here or around; 0 if they would find one. */
    long saturated() {
        // the permits first: the time could be from long ago, and a permit free until just now
        boolean free = isFree(null);
        long since = fullSince;
        return free || since == 0 ? 0 : Math.max(1, System.nanoTime() - since);
    }

    /** Applies a change of the settings. Needs the lock; {@link #serve} must follow without it. */
    void change(int morePermits, LimitSettings before, LimitSettings after) {
        if (permits.availablePermits() > 0 && queue.isEmpty()) {
            fullSince = 0; // it is not full, and would look so once its free permits are gone
        }
        permits.add(morePermits);
        KeyTurns turns = queue.turns();
        if (turns != null) {
            turns.setPermitsPerKey(after.permitsPerKey());
        }
        if (!Objects.equals(before.maxWait(), after.maxWait())) {
            // the oldest has to go earlier, or later, than the timer knows
            expiry.reschedule();
        }
    }

    /** Reads the keys that have calls. */
    <T> T ofKeys(Function<KeyTurns, T> read, T none) {
        return lock.locked(() -> {
            KeyTurns turns = queue.turns();
            return turns == null ? none : read.apply(turns);
        });
    }

    /** Grants the request, queues it, or says why not. */
    @Nullable
    Reason admit(PermitRequest request) {
        Place place = request.place();
        // nobody waits at a limit that is not full: nobody is overtaken
        boolean granted = place == null && fullSince == 0 && isAlone() && permits.tryAcquire();
        boolean nested = !granted && request.isNested();
        Reason refused = null;
        if (!granted) {
            boolean stays = false;
            lock.lock();
            try {
                queue.arrive(place, limit.settings.permitsPerKey());
                granted = take(place);
                refused = granted ? null : refusal(place, nested);
                if (!granted && refused == null) {
                    enqueue(request);
                }
                stays = refused == null;
            } finally {
                if (!stays) {
                    queue.leave(place);
                }
                lock.unlock();
            }
        }
        if (granted) {
            grant(request);
        } else if (refused == null) {
            joined(request, nested);
        }
        return refused;
    }

    /** Whether no limit lies within this one, and this one in no other. */
    private boolean isAlone() {
        return around == null && inside.length == 0;
    }

    private @Nullable Reason refusal(@Nullable Place place, boolean nested) {
        LimitSettings settings = limit.settings;
        if (place != null && place.key != null && queue.waiting(place.key) > settings.queueCapacityPerKey()) {
            return Reason.KEY_QUEUE_FULL;
        }
        if (queue.size() >= settings.queueCapacity()) {
            return Reason.QUEUE_FULL;
        }
        return nested && settings.nested() == Nested.FAIL ? Reason.NESTED : null;
    }

    /** A request that could not expire, since the timer cannot get its thread, does not wait. */
    private void enqueue(PermitRequest request) {
        request.joins();
        queue.add(request);
        try {
            expiry.schedule();
        } catch (Throwable noTimer) {
            queue.remove(request);
            throw noTimer;
        }
    }

    private void joined(PermitRequest request, boolean nested) {
        if (permits.availablePermits() > 0) {
            serve();
        }
        if (nested) {
            request.waitsNested();
        }
    }

    /** Takes permits only while nobody waits who could go, so that nobody is overtaken. Needs the lock. */
    private boolean take(@Nullable Place place) {
        if (!queue.mayRun(place)) {
            return false; // the limit may have free permits
        }
        TaskLimit held = place == null ? null : place.held;
        boolean taken = isNobodyBefore(held) && isFree(held);
        if (taken) {
            for (Admission each = this; each != null && each.limit != held; each = each.around) {
                each.fullSince = 0; // before the permit is gone: nobody may see it gone, and the time of what is over
            }
            taken = acquire(held);
        }
        if (taken) {
            queue.begin(place);
        } else {
            noteFull(held);
        }
        return taken;
    }

    private boolean isNobodyBefore(@Nullable TaskLimit held) {
        if (held != null) {
            return queue.nextHolding(this::couldGo) == null;
        }
        return !queue.isAnyReady() && (isAlone() || outermost().next() == null);
    }

    private Admission outermost() {
        Admission outermost = this;
        while (outermost.around != null) {
            outermost = outermost.around;
        }
        return outermost;
    }

    /** Whether this limit and those around it have a permit free, up to the one that is held. */
    private boolean isFree(@Nullable TaskLimit held) {
        for (Admission each = this; each != null && each.limit != held; each = each.around) {
            if (each.permits.availablePermits() <= 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Takes a permit of each, or none. The outermost comes first: its permits alone may be taken without the lock, by calls that
     * came before a limit lay within it. Needs the lock.
     */
    private boolean acquire(@Nullable TaskLimit held) {
        if (limit == held) {
            return true;
        }
        return (around == null || around.acquire(held)) && permits.tryAcquire();
    }

    private void noteFull(@Nullable TaskLimit held) {
        for (Admission each = this; each != null && each.limit != held; each = each.around) {
            if (each.fullSince == 0 && (each == this || each.permits.availablePermits() <= 0)) {
                each.fullSince = System.nanoTime() | 1; // never 0
            }
        }
    }

    /** Who goes first of those that could go, here and in the limits inside. Needs the lock. */
    private @Nullable PermitRequest next() {
        if (isAlone()) {
            return permits.availablePermits() > 0 ? queue.next() : null;
        }
        PermitRequest holding = nextHolding(); // they hold what others wait for
        return holding == null ? nextFree() : holding;
    }

    private @Nullable PermitRequest nextHolding() {
        PermitRequest next = queue.nextHolding(this::couldGo);
        for (Admission each : inside) {
            next = WaitQueue.older(next, each.nextHolding());
        }
        return next;
    }

    private boolean couldGo(PermitRequest request) {
        Place place = request.place();
        return queue.mayRun(place) && isFree(place == null ? null : place.held);
    }

    private @Nullable PermitRequest nextFree() {
        if (permits.availablePermits() <= 0) {
            return null;
        }
        PermitRequest next = queue.next();
        for (Admission each : inside) {
            next = WaitQueue.older(next, each.nextFree());
        }
        return next;
    }

    /** Takes the request out of the queue, since its permits are taken. Needs the lock. */
    private void handTo(PermitRequest request, @Nullable TaskLimit held) {
        queue.grant(request);
        for (Admission each = this; each != null && each.limit != held; each = each.around) {
            if (!each.isAwaited()) {
                each.fullSince = 0;
            }
        }
    }

    /** Whether a call waits that needs a permit of this limit. */
    private boolean isAwaited() {
        boolean awaited = queue.isAnyReady();
        for (Admission each : inside) {
            awaited |= each.isAwaited();
        }
        return awaited;
    }

    /** Hands a permit over to the next in the queue, or returns it where nobody waits. */
    void release(@Nullable Place place) {
        TaskLimit held = place == null ? null : place.held;
        if (!isAlone()) {
            putBack(place);
            serve();
        } else {
            PermitRequest heir = place == null && queue.isEmpty() ? null : heir(place);
            if (heir == null) {
                permits.release();
                serveAnybody();
            } else {
                grant(heir);
            }
        }
        // last: where the stack ends here, the permit is back
        for (Admission each = this; each != null && each.limit != held; each = each.around) {
            each.completed.increment();
        }
    }

    /** The next in the queue, unless there are fewer permits than before: then one has to come back. */
    private @Nullable PermitRequest heir(@Nullable Place place) {
        lock.lock();
        try {
            queue.end(place);
            PermitRequest next = queue.next();
            if (next != null && permits.availablePermits() < 0) {
                return null;
            }
            if (next != null) {
                handTo(next, null);
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Grants permits that are taken; where that fails, they go to another before the request is told, which may block. */
    private void grant(PermitRequest request) {
        if (!request.grant()) {
            rejections.add(request, null);
            putBack(request.place());
            serveAnybody();
        }
    }

    private void putBack(@Nullable Place place) {
        if (place == null && isAlone()) {
            permits.release();
            return;
        }
        lock.lock();
        try {
            TaskLimit held = place == null ? null : place.held;
            for (Admission each = this; each != null && each.limit != held; each = each.around) {
                each.permits.release();
            }
            queue.end(place);
        } finally {
            lock.unlock();
        }
    }

    private void serveAnybody() {
        if (!isAlone() || !queue.isEmpty() || !rejections.isEmpty()) {
            serve();
        }
    }

    /**
     * Grants all permits that are free to those who wait. A loop, not a recursion: however many requests fail to start one after
     * the other, the stack does not grow. They are told after it, since what they do then may block.
     */
    void serve() {
        Admission outermost = outermost();
        for (PermitRequest next = outermost.takeNext(); next != null; next = outermost.takeNext()) {
            if (!next.grant()) {
                rejections.add(next, null);
                Objects.requireNonNull(next.semaphore()).admission.putBack(next.place());
            }
        }
        rejections.tellAll();
    }

    /** The next in the queue, together with its permits. */
    private @Nullable PermitRequest takeNext() {
        lock.lock();
        try {
            PermitRequest next = next();
            if (next == null) {
                if (queue.isAnyReady()) {
                    noteFull(null);
                }
                return null;
            }
            Admission its = Objects.requireNonNull(next.semaphore()).admission;
            TaskLimit held = next.place() == null ? null : next.place().held;
            if (!its.acquire(held)) {
                return null;
            }
            its.handTo(next, held);
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Takes one request out of the queue, if it is still there. */
    boolean remove(PermitRequest request) {
        lock.lock();
        try {
            if (!request.isQueued()) {
                return false;
            }
            queue.remove(request);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Evicts everybody who waits at this moment. All let go of what they hold before the first is told: that may need memory. */
    int evict(Reason reason) {
        int evicted = 0;
        long now = System.nanoTime();
        for (PermitRequest next = pollWaitingAt(now); next != null; next = pollWaitingAt(now)) {
            rejections.add(next, reason);
            evicted++;
        }
        rejections.tellAgain();
        return evicted;
    }

    private @Nullable PermitRequest pollWaitingAt(long moment) {
        lock.lock();
        try {
            return queue.pollWaitingAtLeast(0, moment);
        } finally {
            lock.unlock();
        }
    }

    List<PermitRequest> waiting(int most) {
        return lock.locked(() -> queue.first(most));
    }

    Optional<PermitRequest> find(Predicate<PermitRequest> wanted) {
        return lock.locked(() -> queue.find(wanted));
    }
}
