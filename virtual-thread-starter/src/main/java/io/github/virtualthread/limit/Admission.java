package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who gets a permit of a limit, and who waits: permits in a semaphore, waiting calls in a queue.
 *
 * <p>No wake-up is lost between "the queue is empty" and "a permit is free": who gives a permit back looks at the queue
 * afterwards, who joins the queue looks at the permits afterwards.
 *
 * <p>Limits that lie within each other have one lock, and a call that waits has taken none of the permits that it needs: see {@link
 * PermitLevel}.
 */
final class Admission implements PermitGate {

    private final TaskLimit limit;
    final BriefLock lock;
    final PermitLevel level;
    private final Permits permits; // of the level
    private final WaitQueue queue; // of the level
    private final Expiry expiry; // guarded by lock
    private final RejectionQueue rejections;
    private Pace pace = new Pace(); // guarded by lock
    private @Nullable DryRun dryRun; // guarded by lock; null before the first
    private volatile boolean watches; // whether there is a dry run now; written under lock

    /**
     * Creates the admission of a limit.
     *
     * @param around admission of the limit around it, null for none
     */
    Admission(TaskLimit limit, Permits permits, @Nullable Admission around, TaskTimer timer) {
        this.limit = limit;
        this.lock = around == null ? new BriefLock() : around.lock;
        this.rejections = around == null ? new RejectionQueue(timer) : around.rejections;
        this.level = new PermitLevel(limit, permits, around == null ? null : around.level);
        this.permits = permits;
        this.queue = level.queue;
        this.expiry = new Expiry(queue, lock, timer, rejections, limit);
        if (around != null) {
            try (ScopedLock held = lock.hold()) {
                around.level.add(level);
            }
        }
    }

    /** Runs a change under the lock. Whoever can go afterwards goes, also if the change fails half-way. */
    <T> T change(Supplier<T> change) {
        try {
            return lock.locked(change);
        } finally {
            serve();
        }
    }

    /**
     * Applies changed settings, within {@link #change}.
     *
     * @param weights of keys that have others than before
     */
    void apply(int morePermits, LimitSettings before, LimitSettings after, Map<String, Double> weights) {
        level.change(morePermits, after.permitsPerKey());
        watch(after);
        if (!Objects.equals(before.maxWait(), after.maxWait())) {
            // the oldest has to go earlier, or later, than the timer knows
            expiry.reschedule();
        }
        KeyTurns turns = queue.turns();
        if (turns != null) {
            turns.setWeights(weights);
        }
        if (level.isClosed()) {
            pace = new Pace(); // what it has seen is over
        }
    }

    /** Begins a dry run, ends it, or gives it other numbers. Needs the lock. */
    void watch(LimitSettings settings) {
        long now = System.nanoTime();
        if (settings.dryRun()) {
            dryRun = dryRun == null ? new DryRun(ShadowCall::new) : dryRun;
            dryRun.resize(settings, now);
        } else if (dryRun != null) {
            dryRun.stop(now);
        }
        watches = settings.dryRun();
    }

    /** A request has its permit. Needs the lock. */
    private void watchBegin(@Nullable PermitRequest request) {
        if (watches && request != null && dryRun != null) {
            dryRun.begin(request, DryRun.PERMITS - permits.left(), System.nanoTime());
        }
    }

    private void watchEnd(PermitRequest request) {
        if (watches) {
            try (ScopedLock held = lock.hold()) {
                if (dryRun != null) {
                    dryRun.end(request, System.nanoTime());
                }
            }
        }
    }

    TaskLimit.@Nullable DryRunState dryRun() {
        try (ScopedLock held = lock.hold()) {
            return dryRun == null ? null : dryRun.state(System.nanoTime());
        }
    }

    /** Reads the keys that have calls. That may take long, so callers do not wait for it. */
    <T> T ofKeys(Function<KeyTurns, T> read, T none) {
        KeyTurns turns = queue.turns();
        return turns == null ? none : read.apply(turns);
    }

    @Override
    public @Nullable Reason admit(PermitRequest request, long longest) {
        KeyedPlace place = request.place();
        // nobody waits at a limit that is not full: nobody is overtaken
        if (place == null && !watches && !level.full && level.isAlone() && permits.tryAcquire()) {
            grant(request);
            return null;
        }
        return admitInTurn(request, place, longest);
    }

    private @Nullable Reason admitInTurn(PermitRequest request, @Nullable KeyedPlace place, long longest) {
        boolean nested = request.isNested();
        boolean granted = false;
        boolean stays = false;
        Reason refused = null;
        boolean keyMayRun = true;
        Double weight = weigh(place);
        lock.lock();
        try {
            queue.arrive(place, weight);
            granted = level.take(place);
            keyMayRun = granted || queue.mayRun(place);
            refused = granted ? null : refusal(place, nested, longest);
            if (!granted && refused == null) {
                enqueue(request);
            }
            stays = refused == null;
            watchBegin(granted ? request : null);
        } finally {
            if (!stays) {
                queue.leave(place);
            }
            lock.unlock();
        }
        if (granted) {
            grant(request);
        } else if (stays) {
            joined(request, nested);
        }
        if (!granted && keyMayRun) { // what waits for its key does not need more of the limit
            level.missed(!stays);
        }
        return refused;
    }

    /** The weight of the key of a request, null if all are equal. May ask a bean of the application: must not have the lock. */
    private @Nullable Double weigh(@Nullable KeyedPlace place) {
        if (place == null || place.key == null) {
            return null;
        }
        KeyTurns turns = queue.turns();
        Double known = turns == null ? null : turns.weight(place.key);
        return known == null ? limit.weight(place.key) : known;
    }

    private @Nullable Reason refusal(@Nullable KeyedPlace place, boolean nested, long longest) {
        if (level.isRefused()) {
            return Reason.NO_LEASE;
        }
        if (level.suffices(place)) {
            return null;
        }
        LimitSettings settings = limit.settings();
        if (queue.exceeds(place, settings.queueCapacityPerKey())) {
            return Reason.KEY_QUEUE_FULL;
        }
        if (queue.size() >= settings.queueCapacity()) {
            return Reason.QUEUE_FULL;
        }
        if (nested && settings.nested() == Nested.FAIL) {
            return Reason.NESTED;
        }
        return settings.rejectsHopeless() && place == null && isHopeless(longest) ? Reason.HOPELESS : null;
    }

    /** Says of a call what will be known in any case once it has waited for the longest that it may. */
    private boolean isHopeless(long longest) {
        pace.look(level.fullSince(), System.nanoTime(), level.completed());
        return nanosUntilNext() > longest;
    }

    /**
     * How long one more call would wait, by the pace of the limit; 0 if nobody waits, or if that is not known: with keys, and with
     * limits around or inside, some go before others.
     */
    private long nanosUntilNext() {
        if (queue.isEmpty() || queue.hasKeys() || !level.isAlone()) {
            return 0;
        }
        return pace.nanosUntil(
                queue.size() + 1, limit.inUse(), level.fullSince(), System.nanoTime(), level.completed());
    }

    /** How long one more call would wait; null if that is not known. */
    @Nullable
    Duration expectedWait() {
        long nanos = lock.locked(this::nanosUntilNext);
        return nanos == 0 ? null : Duration.ofMillis(1 + TimeUnit.NANOSECONDS.toMillis(nanos));
    }

    /** A request that could not expire, since the timer cannot get its thread, does not wait. */
    private void enqueue(PermitRequest request) {
        request.joins();
        queue.add(request);
        try {
            expiry.schedule();
        } catch (Throwable shortage) {
            queue.remove(request);
            throw shortage;
        }
    }

    /** Others that could go are the business of whoever has freed their permits. */
    private void joined(PermitRequest request, boolean nested) {
        if (permits.availablePermits() > 0) {
            grantNext();
        }
        if (nested) {
            request.waitsNested();
        }
    }

    @Override
    public void release(PermitRequest request) {
        KeyedPlace place = request.place();
        if (!level.isAlone()) {
            releaseLevels(place);
        } else {
            PermitRequest heir = place == null && queue.isEmpty() ? null : heir(place);
            if (heir == null) {
                permits.release();
                serveAnybody();
            } else {
                grant(heir);
            }
        }
        level.complete(place); // late: where the stack ends here, the permit is back
        watchEnd(request);
    }

    /** A permit of each level may be for a request of its own, as some hold those of levels around. */
    private void releaseLevels(@Nullable KeyedPlace place) {
        PermitRequest first;
        try (ScopedLock held = lock.hold()) {
            level.giveBack(place);
            first = level.outermost().takeNext();
        }
        if (first != null) {
            grant(first);
            for (PermitLevel each = level.around; each != null; each = each.around) {
                grantNext();
            }
        }
        rejections.reportSoonOrNow();
    }

    private void grantNext() {
        PermitRequest next = takeNext(level.outermost());
        if (next != null) {
            grant(next);
        }
    }

    private @Nullable PermitRequest heir(@Nullable KeyedPlace place) {
        try (ScopedLock held = lock.hold()) {
            queue.end(place);
            PermitRequest heir = level.heir();
            watchBegin(heir);
            return heir;
        }
    }

    /** Grants permits that are taken; where that fails, they go to another first. */
    private void grant(PermitRequest request) {
        if (!grantOrGiveBack(request)) {
            serveAnybody();
        }
    }

    private static boolean grantOrGiveBack(PermitRequest request) {
        boolean granted = request.grant();
        if (!granted) {
            Objects.requireNonNull(request.gate()).takeBack(request);
        }
        return granted;
    }

    private void serveAnybody() {
        if (!level.isAlone() || !queue.isEmpty() || !rejections.isEmpty()) {
            serve();
        }
    }

    @Override
    public void takeBack(PermitRequest request) {
        watchEnd(request);
        rejections.add(request, null);
        KeyedPlace place = request.place();
        if (place == null && level.isAlone()) {
            permits.release();
            return;
        }
        try (ScopedLock held = lock.hold()) {
            level.giveBack(place);
        }
    }

    /**
     * Grants all permits that are free to those who wait. A loop, not a recursion: however many requests fail to start one after
     * the other, the stack does not grow. They are reported after it, on other threads: neither a caller nor a call that ends
     * reports the rejections of others.
     */
    void serve() {
        PermitLevel outermost = level.outermost();
        for (PermitRequest next = takeNext(outermost); next != null; next = takeNext(outermost)) {
            boolean unused = grantOrGiveBack(next);
        }
        rejections.reportSoonOrNow();
    }

    private @Nullable PermitRequest takeNext(PermitLevel outermost) {
        try (ScopedLock held = lock.hold()) {
            PermitRequest next = outermost.takeNext();
            watchBegin(next);
            return next;
        }
    }

    /** Whether calls wait here, and not for their key. */
    boolean isAnyReady() {
        return !queue.isEmpty() && lock.locked(queue::isAnyReady);
    }

    @Override
    public boolean remove(PermitRequest request) {
        try (ScopedLock held = lock.hold()) {
            if (!request.isQueued()) {
                return false;
            }
            queue.remove(request);
            return true;
        }
    }

    @Override
    public boolean reject(PermitRequest request, Reason reason) {
        boolean waited = remove(request);
        if (waited) {
            rejections.add(request, reason);
        }
        rejections.reportSoon();
        return waited;
    }

    /** Evicts everybody who waits at this moment. All release what they hold before the first is reported: that may need memory. */
    int evict(Reason reason) {
        int evicted = 0;
        long now = System.nanoTime();
        for (PermitRequest next = pollWaitingAt(now); next != null; next = pollWaitingAt(now)) {
            rejections.add(next, reason);
            evicted++;
        }
        rejections.reportAgain();
        return evicted;
    }

    @Override
    public List<PermitRequest> unreported() {
        return rejections.all();
    }

    @Override
    public void claimed(PermitRequest request, boolean begun) {
        rejections.claimed(request, begun);
    }

    private @Nullable PermitRequest pollWaitingAt(long moment) {
        try (ScopedLock held = lock.hold()) {
            return queue.pollWaitingAtLeast(0, moment);
        }
    }

    @Override
    public List<PermitRequest> waiting(int most) {
        return lock.locked(() -> queue.first(most));
    }

    @Override
    public Optional<PermitRequest> find(Predicate<PermitRequest> wanted) {
        return lock.locked(() -> queue.find(wanted));
    }
}
