package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A limit with its settings. Its {@link Admission} decides who gets a permit. */
final class SemaphoreLimit implements TaskLimit, PermitGate.Owner, PermitLease.Borrower {

    final Admission admission;
    private final PermitLevel level; // of the admission
    private final Permits semaphore; // of the level
    private final @Nullable SemaphoreLimit within;
    private final Consumer<LimitChange> changes;
    private volatile int occupations; // written under the lock of the admission
    private volatile LimitSettings settings; // written under the lock of the admission
    volatile String name;
    private volatile @Nullable KeyWeight otherKeys; // null if all keys are equal

    SemaphoreLimit(
            LimitSettings settings, @Nullable SemaphoreLimit within, TaskTimer timer, Consumer<LimitChange> changes) {
        this.settings = settings;
        this.name = settings.name();
        this.otherKeys = settings.keyWeights().isEmpty() ? null : (limit, key) -> 1;
        this.within = within;
        this.changes = changes;
        this.semaphore = semaphore(settings);
        this.admission = new Admission(this, semaphore, within == null ? null : within.admission, timer);
        this.level = admission.level;
        admission.watch(settings);
    }

    private static Permits semaphore(LimitSettings settings) {
        if (settings.clusterPermits() != null) {
            return PermitLease.Leased.create();
        }
        return new Permits(settings.dryRun() ? DryRun.PERMITS : settings.permits());
    }

    @Override
    public PermitGate gate() {
        return admission;
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
    public int available() {
        boolean isCounted = settings.dryRun() && !isOccupied();
        int free = isCounted ? permits() - inUse() : semaphore.availablePermits();
        return Math.clamp(free, 0, permits());
    }

    @Override
    public boolean isAnyFree() {
        return semaphore.availablePermits() > 0;
    }

    /** Under the lock: while a dry run begins or ends, the size of the semaphore differs from that of the settings by two billion. */
    @Override
    public int inUse() {
        try (ScopedLock held = admission.lock.hold()) {
            return Math.max(0, running());
        }
    }

    @Override
    public int waiting() {
        return level.queue.size();
    }

    @Override
    public int mostWaiting() {
        WaitQueue queue = level.queue;
        return admission.lock.locked(() -> queue.peak.read(queue.size(), System.nanoTime()));
    }

    @Override
    public Duration saturated() {
        return Duration.ofNanos(level.saturated());
    }

    @Override
    public long completed() {
        return level.completed();
    }

    @Override
    public @Nullable Duration expectedWait() {
        return settings.rejectsHopeless() ? admission.expectedWait() : null;
    }

    @Override
    public @Nullable TaskLimit within() {
        return within;
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
    public @Nullable Double weight(String key) {
        KeyWeight others = otherKeys;
        Double configured = settings.keyWeights().get(key);
        if (others == null || configured != null) {
            return configured;
        }
        return weighed(others, key);
    }

    /** By the bean of the application. Its failure is no failure of the call. */
    private double weighed(KeyWeight bean, String key) {
        try {
            double weight = bean.of(name, key);
            return Double.isNaN(weight) ? 1 : Math.clamp(weight, LimitSettings.LEAST_WEIGHT, LimitSettings.MOST_WEIGHT);
        } catch (Throwable broken) {
            return 1;
        }
    }

    void weighBy(KeyWeight weight) {
        otherKeys = weight;
    }

    /** Those of keys that have others than before. Worked out without the lock. */
    private Map<String, Double> changedWeights(LimitSettings before, LimitSettings after) {
        KeyWeight others = otherKeys;
        if (others == null || before.keyWeights().equals(after.keyWeights())) {
            return Map.of();
        }
        Map<String, Double> changed = new HashMap<>(after.keyWeights());
        before.keyWeights().keySet().forEach(key -> changed.computeIfAbsent(key, gone -> weighed(others, gone)));
        return changed;
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
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock of the admission only
    private void occupied(int more) {
        sized(() -> occupations += more);
        if (more < 0 && waiting() > 0) {
            level.missed(false); // it wants permits again
        }
    }

    /** Changes what the size of the semaphore depends on, beside the settings. */
    private void sized(Runnable change) {
        admission.change(() -> {
            int before = size(settings);
            change.run();
            admission.apply(size(settings) - before, settings, settings, Map.of());
            return true;
        });
    }

    private int size(LimitSettings settings) {
        if (occupations > 0) {
            return 0;
        }
        return settings.dryRun() ? DryRun.PERMITS : Math.min(settings.permits(), semaphore.lent());
    }

    private int running() {
        return size(settings) - semaphore.left();
    }

    @Override
    public int lent() {
        return Math.min(settings.permits(), semaphore.lent());
    }

    @Override
    public @Nullable ClusterState cluster() {
        PermitLease lease = semaphore.lease();
        return lease == null ? null : lease.state();
    }

    @Override
    public @Nullable String whyFull() {
        PermitLease lease = semaphore.lease();
        return lease != null && lease.lendsNothing() ? LimitExceededException.NOTHING_LENT : TaskLimit.super.whyFull();
    }

    @Override
    public @Nullable DryRunState dryRun() {
        return admission.dryRun();
    }

    @Override
    public void setLease(PermitLease lease) {
        ((PermitLease.Leased) semaphore).lease = lease;
    }

    @Override
    public void lend(PermitLease lease, int permits) {
        sized(() -> lease.lent = permits); // also where as many are lent as before: the lease may have been over
        if (within != null && semaphore.left() > 0 && admission.isAnyReady()) {
            within.level.missed(false); // now the limits around may be short of permits
        }
    }

    @Override
    public int held(PermitLease lease) {
        return admission.lock.locked(() -> Math.max(lease.lent, running())); // also more than it may use now
    }

    /** At most as many as this limit and those around it allow. */
    @Override
    public int wanted() {
        return Math.min(most(), admission.lock.locked(() -> running() + (occupations > 0 ? 0 : level.ready())));
    }

    @Override
    public int most() {
        int most = permits();
        for (TaskLimit around = within; around != null; around = around.within()) {
            most = Math.min(most, around.permits());
        }
        return most;
    }

    @Override
    public void change(UnaryOperator<LimitSettings> change) {
        change(change, Source.CODE);
    }

    void change(UnaryOperator<LimitSettings> change, Source by) {
        LimitChange changed = replace(change, by);
        if (!changed.after().equals(changed.before())) {
            changes.accept(changed);
        }
    }

    /** Changes the permits without a report: its pool has been read for the first time, or {@code adapt} has found another number. */
    void adjust(IntUnaryOperator permits) {
        replace(now -> now.withPermits(permits.applyAsInt(now.permits())), Source.POOL);
    }

    /**
     * More permits start waiting calls at once, fewer take effect as running calls end. Nobody waits for that here. The change is
     * worked out without the lock, because it is not ours: it may take its time, or change this very limit.
     */
    private LimitChange replace(UnaryOperator<LimitSettings> change, Source by) {
        while (true) {
            LimitSettings before = settings;
            LimitSettings after = change.apply(before);
            requireSameKind(before, after);
            if (replace(before, after)) {
                return new LimitChange(name, before, after, by);
            }
        }
    }

    /** Returns false if the settings are not the same any more. */
    private boolean replace(LimitSettings before, LimitSettings after) {
        Map<String, Double> weights = changedWeights(before, after);
        boolean replaced = admission.change(() -> {
            boolean present = before.equals(settings);
            if (present) {
                settings = after;
                admission.apply(size(after) - size(before), before, after, weights);
            }
            return present;
        });
        boolean isOtherNumber =
                before.permits() != after.permits() || !Objects.equals(before.clusterPermits(), after.clusterPermits());
        if (replaced && isOtherNumber) {
            level.changed(); // tells the other replicas
        }
        return replaced;
    }

    private void requireSameKind(LimitSettings before, LimitSettings after) {
        if (!after.name().equals(before.name())) {
            throw new IllegalArgumentException("Limit '%s': the changed settings must have the same name, had '%s'"
                    .formatted(before.name(), after.name()));
        }
        refuse(!Objects.equals(before.within(), after.within()), LimitNumber.WITHIN, "changed");
        refuse(otherKeys == null && !after.keyWeights().isEmpty(), LimitNumber.KEY_WEIGHTS, "added");
        refuse(before.adapt() == null && after.adapt() != null, LimitNumber.ADAPT, "added");
        refuse(!before.isShared() && after.isShared(), LimitNumber.CLUSTER_PERMITS, "added");
        refuse(before.isShared() && !after.isShared(), LimitNumber.CLUSTER_PERMITS, "removed");
        if (after.dryRun() && !level.isAlone()) {
            throw new IllegalArgumentException(
                    "Limit '%s': dry-run must be false, because other limits lie within it, and a dry run watches one queue"
                            .formatted(name));
        }
    }

    private void refuse(boolean isRefused, LimitNumber number, String change) {
        if (isRefused) {
            throw new IllegalArgumentException(
                    "Limit '%s': %s cannot be %s while the application runs; set it in the properties, and restart the application"
                            .formatted(name, number.key(), change));
        }
    }

    /** As in {@code db (20 permits, queue of 100, wait up to 2s)}. */
    @Override
    public String toString() {
        return "%s (%s)".formatted(name(), settings.describe());
    }
}
