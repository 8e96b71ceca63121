package io.github.virtualthread.observation;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of every limit, including those that changed properties add. Those of keys are registered at the first call with a key: a
 * limit without keys has no series for them, and a limit of this JVM alone none of other replicas. No meter has a key as a tag, because there may be any number of keys.
 */
final class LimitMeters implements TaskLimitCustomizer {

    private static final Tags UNLIMITED = Tags.of("limit", LimitNames.NONE);

    private final ScopedLock lock = new ScopedLock();
    private final Set<TaskLimit> limits = new LinkedHashSet<>(); // guarded by lock
    private final Set<TaskLimit> withKeys = ConcurrentHashMap.newKeySet();
    private final Map<TaskLimit, Tags> tags = new ConcurrentHashMap<>();
    private @Nullable TaskMeters meters; // guarded by lock

    /** Registers the gauges of all limits, which have their final names now. */
    void begin(TaskMeters meters) {
        boolean shared;
        try (ScopedLock held = lock.hold()) {
            this.meters = meters;
            limits.forEach(this::register);
            withKeys.forEach(this::registerKeys);
            shared = limits.stream().anyMatch(LimitMeters::isShared);
        }
        if (shared) {
            meters.listenToExchanges(); // without the lock: it looks up a bean
        }
    }

    @Override
    public void customize(TaskLimit limit) {
        TaskMeters begun;
        try (ScopedLock held = lock.hold()) {
            begun = meters;
            if (limits.add(limit) && meters != null) {
                register(limit);
            }
        }
        if (begun != null && isShared(limit)) {
            begun.listenToExchanges(); // likewise
        }
    }

    private static boolean isShared(TaskLimit limit) {
        return limit.clusterPermits() != null;
    }

    /** A call under the limit has a key. */
    void hasKeys(TaskLimit limit) {
        if (withKeys.contains(limit)) { // takes no lock
            return;
        }
        try (ScopedLock held = lock.hold()) {
            if (withKeys.add(limit) && meters != null) {
                registerKeys(limit);
            }
        }
    }

    /** Returns the same tags for all meters of a limit, even if it is shown in another spelling later. */
    Tags tags(@Nullable TaskLimit limit) {
        return limit == null ? UNLIMITED : tags.computeIfAbsent(limit, first -> Tags.of("limit", first.name()));
    }

    private void register(TaskLimit limit) {
        RunningCalls calls = Objects.requireNonNull(meters).running();
        number(limit, "permits", limit::permits, "Most calls that run at once");
        number(limit, "available", limit::available, "Permits that nobody holds");
        number(limit, "waiting", limit::waiting, "Calls that wait for a permit");
        number(limit, "queue.capacity", limit::queueCapacity, "Most calls that may wait");
        String abandoned = "Permits held by bodies whose call has ended by cancel or timeout";
        number(limit, "abandoned", () -> calls.abandoned(limit), abandoned);
        String saturated = "How long no permit has been free, while calls wait or have been rejected since";
        seconds(limit, "saturated", () -> limit.saturated().toNanos() / 1e9, saturated);
        String running = "How long the oldest of the bodies has run that run now";
        seconds(limit, "oldest.running", () -> calls.oldest(limit), running);
        String waiting = "How long the oldest of the waiting calls has waited";
        seconds(limit, "oldest.waiting", () -> calls.firstWaiting(limit), waiting);
        if (limit.rejectsHopeless()) {
            String expected = "How long one more call would wait";
            seconds(limit, "expected.wait", () -> expectedWait(limit), expected);
        }
        if (isShared(limit)) {
            registerShared(limit);
        }
    }

    private static double expectedWait(TaskLimit limit) {
        Duration expected = limit.expectedWait(null);
        return expected == null ? Double.NaN : expected.toMillis() / 1e3;
    }

    private void registerShared(TaskLimit limit) {
        String permits = "Most calls that run at once in all replicas together";
        number(limit, "cluster.permits", () -> ofCluster(limit, ClusterState::permits), permits);
        number(limit, "cluster.share", limit::lent, "Permits that this replica may use");
        Supplier<Number> replicas =
                () -> ofCluster(limit, cluster -> cluster.members().size());
        number(limit, "cluster.members", replicas, "Replicas that share the permits");
        Supplier<Number> left =
                () -> ofCluster(limit, cluster -> cluster.leaseLeft().toNanos() / 1e9);
        seconds(limit, "cluster.lease.left", left, "How long the permits are still lent");
    }

    /** Nothing is known before the limit is shared, as while the application starts. */
    private static Number ofCluster(TaskLimit limit, Function<ClusterState, Number> number) {
        ClusterState cluster = limit.cluster();
        return cluster == null ? 0 : number.apply(cluster);
    }

    private void registerKeys(TaskLimit limit) {
        number(limit, "keys", limit::keys, "Keys whose calls run or wait");
        String full = "Keys that have all permits of a key while others of their calls wait";
        number(limit, "keys.full", limit::keysFull, full);
        String most = "Calls that wait of the key that has most of them";
        number(limit, "key.most.waiting", limit::mostWaitingOfOneKey, most);
    }

    private void number(TaskLimit limit, String name, Supplier<Number> value, String description) {
        gauge(limit, name, value, description, null);
    }

    private void seconds(TaskLimit limit, String name, Supplier<Number> value, String description) {
        gauge(limit, name, value, description, "seconds");
    }

    /** Needs the lock, and that the meters have begun. */
    private void gauge(
            TaskLimit limit, String name, Supplier<Number> value, String description, @Nullable String unit) {
        Objects.requireNonNull(meters)
                .register(Gauge.builder("virtual.thread.limit." + name, value)
                        .description(description)
                        .baseUnit(unit)
                        .tags(tags(limit))::register);
    }
}
