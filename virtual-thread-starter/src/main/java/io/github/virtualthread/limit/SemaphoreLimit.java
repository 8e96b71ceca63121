package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A limit with its settings. Its {@link Admission} decides who gets a permit. */
final class SemaphoreLimit implements TaskLimit {

    final Admission admission;
    private final @Nullable SemaphoreLimit within;
    private final Consumer<LimitChange> changes;
    private volatile int occupations; // written under the lock of the admission
    private volatile LimitSettings settings; // as well
    private volatile String name;

    SemaphoreLimit(
            LimitSettings settings, @Nullable SemaphoreLimit within, TaskTimer timer, Consumer<LimitChange> changes) {
        this.settings = settings;
        this.name = settings.name();
        this.within = within;
        this.changes = changes;
        this.admission = new Admission(this, settings.permits(), within, timer);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public LimitSettings settings() {
        return settings;
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
        return Math.max(0, admission.level.permits.availablePermits());
    }

    @Override
    public int inUse() {
        return Math.max(0, size(settings) - admission.level.permits.availablePermits());
    }

    @Override
    public int waiting() {
        return admission.level.queue.size();
    }

    @Override
    public Duration saturated() {
        return Duration.ofNanos(admission.level.saturated());
    }

    @Override
    public long completed() {
        return admission.level.completed();
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
    public @Nullable TaskLimit within() {
        return within;
    }

    @Override
    public int permitsPerKey() {
        return settings.permitsPerKey();
    }

    @Override
    public int queueCapacityPerKey() {
        return settings.queueCapacityPerKey();
    }

    @Override
    public int keys() {
        return admission.ofKeys(KeyTurns::keys, 0);
    }

    @Override
    public int keysFull() {
        return admission.ofKeys(KeyTurns::full, 0);
    }

    @Override
    public int mostWaitingOfOneKey() {
        return admission.ofKeys(KeyTurns::mostWaiting, 0);
    }

    @Override
    public List<KeyUse> busiestKeys(int most) {
        return admission.ofKeys(turns -> turns.busiest(most), List.of());
    }

    @Override
    public KeyUse key(String key) {
        return admission.ofKeys(turns -> turns.use(key), new KeyUse(key, 0, 0));
    }

    @Override
    public boolean isOccupied() {
        return occupations > 0;
    }

    @Override
    public Occupation occupy() {
        occupied(1);
        AtomicBoolean closed = new AtomicBoolean();
        return () -> {
            if (closed.compareAndSet(false, true)) {
                occupied(-1);
            }
        };
    }

    /** The size of the semaphore is 0 meanwhile, so a change of the permits lets nobody through. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void occupied(int more) {
        admission.lock().lock();
        try {
            int before = size(settings);
            occupations += more;
            admission.change(size(settings) - before, settings, settings);
        } finally {
            admission.lock().unlock();
        }
        admission.serve();
    }

    private int size(LimitSettings settings) {
        return occupations > 0 ? 0 : settings.permits();
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

    @Override
    public void setPermitsPerKey(int permitsPerKey) {
        change(now -> now.withPermitsPerKey(permitsPerKey), Source.CODE);
    }

    @Override
    public void setQueueCapacityPerKey(int queueCapacityPerKey) {
        change(now -> now.withQueueCapacityPerKey(queueCapacityPerKey), Source.CODE);
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
        admission.lock().lock();
        try {
            if (!before.equals(settings)) {
                return false;
            }
            settings = after;
            admission.change(size(after) - size(before), before, after);
        } finally {
            admission.lock().unlock();
            admission.serve(); // also where the timer gets no thread: the permits are there
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
}
