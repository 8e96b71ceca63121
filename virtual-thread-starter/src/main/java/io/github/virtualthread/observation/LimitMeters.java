package io.github.virtualthread.observation;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.DryRunState;
import io.github.virtualthread.limit.TaskLimit.Shadow;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of every limit, including those that changed properties add. Those of keys are registered at the first call with a key, and
 * those of dry runs at the first call in one: a limit without them has no series for them, and a limit of this JVM alone none of other
 * replicas. No meter has a key as a tag, because there may be any number of keys.
 */
final class LimitMeters implements TaskLimitCustomizer {

    private static final Tags UNLIMITED = Tags.of("limit", LimitNames.NONE);

    private final ScopedLock lock = new ScopedLock();
    private final Set<TaskLimit> limits = new LinkedHashSet<>(); // guarded by lock
    private final Set<TaskLimit> withKeys = ConcurrentHashMap.newKeySet();
    private final Set<TaskLimit> watched = ConcurrentHashMap.newKeySet();
    private final Map<TaskLimit, Tags> tags = new ConcurrentHashMap<>();
    private @Nullable TaskMeters meters; // guarded by lock

    /** Registers the gauges of all limits, which have their final names now. */
    void register(TaskMeters meters) {
        boolean shared;
        try (ScopedLock held = lock.hold()) {
            this.meters = meters;
            limits.forEach(limit -> register(limit, meters));
            withKeys.forEach(limit -> registerKeys(limit, meters));
            watched.forEach(limit -> registerDryRun(limit, meters));
            shared = limits.stream().anyMatch(LimitMeters::isShared);
        }
        if (shared) {
            meters.listenToExchanges(); // without the lock: it looks up a bean
        }
    }

    @Override
    public void customize(TaskLimit limit) {
        TaskMeters registered;
        try (ScopedLock held = lock.hold()) {
            registered = meters;
            if (limits.add(limit) && meters != null) {
                register(limit, meters);
            }
        }
        if (registered != null && isShared(limit)) {
            registered.listenToExchanges(); // without the lock: it looks up a bean
        }
    }

    private static boolean isShared(TaskLimit limit) {
        return limit.clusterPermits() != null;
    }

    /** A call under the limit has a key. */
    void hasKeys(TaskLimit limit) {
        registerOnce(limit, withKeys, this::registerKeys);
    }

    /** A call comes while the limit only watches. */
    void isDryRun(TaskLimit limit) {
        registerOnce(limit, watched, this::registerDryRun);
    }

    private void registerOnce(TaskLimit limit, Set<TaskLimit> known, BiConsumer<TaskLimit, TaskMeters> register) {
        if (known.contains(limit)) { // takes no lock
            return;
        }
        try (ScopedLock held = lock.hold()) {
            if (known.add(limit) && meters != null) {
                register.accept(limit, meters);
            }
        }
    }

    /** Returns the same tags for all meters of a limit, even if it is shown in another spelling later. */
    Tags tags(@Nullable TaskLimit limit) {
        return limit == null ? UNLIMITED : tags.computeIfAbsent(limit, first -> Tags.of("limit", first.name()));
    }

    private void register(TaskLimit limit, TaskMeters meters) {
        RunningCalls calls = meters.running();
        Gauges gauges = new Gauges(meters, tags(limit))
                .number("permits", limit::permits, "Most calls that run at once")
                .number("available", limit::available, "Permits that nobody holds")
                .number("waiting", limit::waiting, "Calls that wait for a permit")
                .number("waiting.max", limit::mostWaiting, "Most calls that waited at once since the last reading")
                .number("queue.capacity", limit::queueCapacity, "Most calls that may wait")
                .number(
                        "abandoned",
                        () -> calls.abandoned(limit),
                        "Permits held by bodies whose call has ended by cancel or timeout")
                .seconds(
                        "saturated",
                        () -> limit.saturated().toNanos() / 1e9,
                        "How long no permit has been free, while calls wait or have been rejected since")
                .seconds(
                        "oldest.running",
                        () -> calls.oldest(limit),
                        "How long the oldest of the bodies has run that run now")
                .seconds(
                        "oldest.waiting",
                        () -> calls.firstWaiting(limit),
                        "How long the oldest of the waiting calls has waited");
        if (limit.rejectsHopeless()) {
            gauges.seconds("expected.wait", () -> expectedWait(limit), "How long one more call would wait");
        }
        if (isShared(limit)) {
            registerShared(limit, gauges);
        }
    }

    private void registerDryRun(TaskLimit limit, TaskMeters meters) {
        Tags of = tags(limit);
        meters.register(FunctionCounter.builder(
                        "virtual.thread.limit.dry.waited", limit, each -> inDryRun(each, Shadow::waited))
                .description("Calls that would have waited, if the limit did not only watch")
                .tags(of)::register);
        meters.register(FunctionCounter.builder(
                        "virtual.thread.limit.dry.rejected", limit, each -> inDryRun(each, Shadow::rejected))
                .description("Calls that would have been rejected, if the limit did not only watch")
                .tags(of)::register);
        meters.register(FunctionTimer.builder(
                        "virtual.thread.limit.dry.wait",
                        limit,
                        each -> inDryRun(each, Shadow::begun),
                        each -> inDryRun(each, shadow -> shadow.total().toNanos()),
                        TimeUnit.NANOSECONDS)
                .description("How long calls would have waited, if the limit did not only watch")
                .tags(of)::register);
    }

    private static long inDryRun(TaskLimit limit, ToLongFunction<Shadow> number) {
        DryRunState dryRun = limit.dryRun();
        return dryRun == null ? 0 : number.applyAsLong(dryRun.same());
    }

    private static double expectedWait(TaskLimit limit) {
        Duration expected = limit.expectedWait();
        return expected == null ? Double.NaN : expected.toMillis() / 1e3;
    }

    private static void registerShared(TaskLimit limit, Gauges gauges) {
        gauges.number(
                        "cluster.permits",
                        () -> ofCluster(limit, ClusterState::permits),
                        "Most calls that run at once in all replicas together")
                .number("cluster.share", limit::lent, "Permits that this replica may use")
                .number(
                        "cluster.kept",
                        () -> ofCluster(limit, ClusterState::kept),
                        "Permits that are lent to nobody, because replicas may run without the engine")
                .number(
                        "cluster.members",
                        () -> ofCluster(limit, cluster -> cluster.members().size()),
                        "Replicas that share the permits")
                .seconds(
                        "cluster.lease.left",
                        () -> ofCluster(limit, cluster -> cluster.leaseLeft().toNanos() / 1e9),
                        "How long the permits are still lent");
    }

    /** Nothing is known before the limit is shared, as while the application starts. */
    private static Number ofCluster(TaskLimit limit, Function<ClusterState, Number> number) {
        ClusterState cluster = limit.cluster();
        return cluster == null ? 0 : number.apply(cluster);
    }

    private void registerKeys(TaskLimit limit, TaskMeters meters) {
        new Gauges(meters, tags(limit))
                .number("keys", limit::keys, "Keys whose calls run or wait")
                .number(
                        "keys.full",
                        limit::keysFull,
                        "Keys that have all permits of a key while others of their calls wait")
                .number(
                        "key.most.waiting",
                        limit::mostWaitingOfOneKey,
                        "Calls that wait of the key that has most of them");
    }

    private record Gauges(TaskMeters meters, Tags tags) {

        Gauges number(String name, Supplier<Number> value, String description) {
            return gauge(name, null, value, description);
        }

        Gauges seconds(String name, Supplier<Number> value, String description) {
            return gauge(name, "seconds", value, description);
        }

        private Gauges gauge(String name, @Nullable String unit, Supplier<Number> value, String description) {
            meters.register(Gauge.builder("virtual.thread.limit." + name, value)
                    .description(description)
                    .baseUnit(unit)
                    .tags(tags)::register);
            return this;
        }
    }
}
