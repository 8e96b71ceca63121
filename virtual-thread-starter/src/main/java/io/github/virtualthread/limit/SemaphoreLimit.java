package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Permits in a semaphore, waiting calls in a queue.
 *
 * <p>No wake-up is lost between "the queue is empty" and "a permit is free": who gives a permit back looks at the queue
 * afterwards, who joins the queue looks at the permits afterwards.
 */
final class SemaphoreLimit implements TaskLimit {

    private final Permits permits;
    private final Consumer<LimitChange> changes;
    private final BriefLock lock = new BriefLock();
    private final WaitQueue queue = new WaitQueue();
    private final Expiry expiry; // guarded by lock
    private final RejectionQueue rejections = new RejectionQueue();
    private final StripedCount completed = new StripedCount();
    volatile LimitSettings settings; // written under the lock
    private volatile String name;

    /**
     * When a call found no permit free, by {@link System#nanoTime}; 0 once a permit came free that nobody waited for. Written
     * under the lock. A free permit leaves it as it is, whoever takes that permit clears it: giving back costs nothing.
     */
    volatile long fullSince;

    SemaphoreLimit(LimitSettings settings, TaskTimer timer, Consumer<LimitChange> changes) {
        this.settings = settings;
        this.name = settings.name();
        this.permits = new Permits(settings.permits());
        this.expiry = new Expiry(queue, lock, timer, rejections, this::maxWait);
        this.changes = changes;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int permits() {
        return settings.permits();
    }

    @Override
    public @Nullable PermitsFrom permitsFrom() {
        return settings.permitsFrom();
    }

    @Override
    public int available() {
        return Math.max(0, permits.availablePermits());
    }

    @Override
    public int waiting() {
        return queue.size();
    }

    @Override
    public Duration saturated() {
        // the permits first: the time could be from long ago, and a permit free until just now
        boolean free = permits.availablePermits() > 0;
        long since = fullSince;
        return free || since == 0 ? Duration.ZERO : Duration.ofNanos(Math.max(1, System.nanoTime() - since));
    }

    @Override
    public long completed() {
        return completed.sum();
    }

    @Override
    public int queueCapacity() {
        return settings.queueCapacity();
    }

    @Override
    public @Nullable Duration maxWait() {
        return settings.maxWait();
    }

    @Override
    public Nested nested() {
        return settings.nested();
    }

    @Override
    public void resize(int permits) {
        change(now -> now.withPermits(permits), Source.CODE);
    }

    @Override
    public void setQueueCapacity(int queueCapacity) {
        change(now -> now.withQueueCapacity(queueCapacity), Source.CODE);
    }

    @Override
    public void setMaxWait(@Nullable Duration maxWait) {
        change(now -> now.withMaxWait(maxWait), Source.CODE);
    }

    void change(UnaryOperator<LimitSettings> change, Source by) {
        LimitChange changed = replace(change, by);
        if (!changed.after().equals(changed.before())) {
            changes.accept(changed);
        }
    }

    /** The limit begins with that many permits: its pool has been read for the first time, which is no change. */
    void begin(int permits) {
        replace(now -> now.withPermits(permits), Source.POOL);
    }

    /**
     * More permits start waiting calls at once, fewer take effect as running calls end. Nobody waits for that here. The change is
     * worked out without the lock, because it is not ours: it may take its time, or change this very limit.
     */
    private LimitChange replace(UnaryOperator<LimitSettings> change, Source by) {
        LimitSettings before;
        LimitSettings after;
        do {
            before = settings;
            after = change.apply(before);
        } while (!replace(before, after));
        return new LimitChange(name, before, after, by);
    }

    /** Returns false if the settings are not the same any more. */
    private boolean replace(LimitSettings before, LimitSettings after) {
        lock.lock();
        try {
            if (!before.equals(settings)) {
                return false;
            }
            settings = after;
            if (permits.availablePermits() > 0 && queue.isEmpty()) {
                fullSince = 0; // it is not full, and would look so once its free permits are gone
            }
            permits.add(after.permits() - before.permits());
            if (!Objects.equals(before.maxWait(), after.maxWait())) {
                // the head has to go earlier, or later, than the timer knows
                expiry.reschedule();
            }
        } finally {
            lock.unlock();
            serve(); // also where the timer gets no thread: the permits are there
        }
        return true;
    }

    void spell(String spelling) {
        name = spelling;
    }

    /** As in {@code db (20 permits, queue of 100, wait up to 2s)}. */
    @Override
    public String toString() {
        return "%s (%s)".formatted(name(), settings.describe());
    }

    /** Grants the request, queues it, or says why not. */
    @Nullable
    Reason admit(PermitRequest request) {
        // nobody waits at a limit that is not full: nobody is overtaken
        boolean granted = fullSince == 0 && permits.tryAcquire();
        boolean nested = !granted && request.isNested();
        Reason refused = null;
        if (!granted) {
            lock.lock();
            try {
                granted = takePermit();
                refused = granted ? null : refusal(nested);
                if (!granted && refused == null) {
                    enqueue(request);
                }
            } finally {
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

    private @Nullable Reason refusal(boolean nested) {
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

    /** Takes a permit only while nobody waits, so that nobody is overtaken. Needs the lock. */
    private boolean takePermit() {
        boolean free = queue.isEmpty() && permits.availablePermits() > 0;
        if (free) {
            fullSince = 0; // before the permit is gone: nobody may see it gone, and the time of what is over
        }
        boolean taken = free && permits.tryAcquire();
        if (!taken && fullSince == 0) {
            fullSince = System.nanoTime() | 1; // never 0
        }
        return taken;
    }

    /** The first in the queue, for a permit that is there. Needs the lock. */
    private @Nullable PermitRequest next() {
        PermitRequest first = queue.poll();
        if (first != null && queue.isEmpty()) {
            fullSince = 0;
        }
        return first;
    }

    /** Hands a permit over to the first in the queue, or returns it where nobody waits. */
    void release() {
        PermitRequest heir = queue.isEmpty() ? null : heir();
        if (heir == null) {
            restore();
        } else {
            grant(heir);
        }
        completed.increment(); // last: where the stack ends here, the permit is back
    }

    /** The first in the queue, unless there are fewer permits than before: then one has to come back. */
    private @Nullable PermitRequest heir() {
        lock.lock();
        try {
            return permits.availablePermits() < 0 ? null : next();
        } finally {
            lock.unlock();
        }
    }

    /** Grants a permit that is taken; where that fails, it goes to another before the request is told, which may block. */
    private void grant(PermitRequest request) {
        if (!request.grant()) {
            rejections.add(request, null);
            restore();
        }
    }

    private void restore() {
        permits.release();
        if (!queue.isEmpty() || !rejections.isEmpty()) {
            serve();
        }
    }

    /**
     * A loop, not a recursion: however many requests fail to start one after the other, the stack does not grow. They are
     * told after it, since what they do then may block.
     */
    private void serve() {
        for (PermitRequest next = takeNext(); next != null; next = takeNext()) {
            if (!next.grant()) {
                rejections.add(next, null);
                permits.release();
            }
        }
        rejections.tellAll();
    }

    /** The first in the queue, together with a permit for it. */
    private @Nullable PermitRequest takeNext() {
        lock.lock();
        try {
            return queue.isEmpty() || !permits.tryAcquire() ? null : next();
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
