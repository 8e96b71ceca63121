package io.github.virtualthread.observation;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * The meters {@code virtual.thread.*} of one application context. They are in its registry from the start of the context until
 * it is closed.
 *
 * <p>The registry is looked up when all beans have been created. Earlier events are kept in memory and recorded then. Without a
 * registry nothing is recorded. With several registries the primary one gets the meters, or all of them if none is primary.
 */
@Internal
public final class TaskMeters implements DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(TaskMeters.class);

    /** Of all contexts: if two of them share a registry, a meter belongs to the context that registered it. */
    private static final Set<Registered> registered = ConcurrentHashMap.newKeySet();

    /** A meter, by the name and tags that filters of the registry gave it. */
    private record Registered(MeterRegistry registry, Meter.Id id) {}

    private final ObjectProvider<MeterRegistry> registries;
    private final SingletonSupplier<RunningCalls> running;
    private final ObjectProvider<ClusterShares> shares;
    private final AtomicBoolean listening = new AtomicBoolean();
    private final LimitMeters limits = new LimitMeters();
    private final CallMeters calls = new CallMeters(limits);
    private final StatementMeters statements = new StatementMeters();
    private final MeterRegistry nowhere = new CompositeMeterRegistry();
    private final ScopedLock lock = new ScopedLock();
    private final List<Registered> own = new ArrayList<>(); // guarded by lock
    private volatile @Nullable MeterRegistry registry; // from the start until the close
    private volatile boolean withStatements;

    /**
     * Creates the meters; they are registered at the start.
     *
     * @param registries registries of the application, looked up at the start
     * @param engine engine that runs the calls, looked up at the start
     * @param stuckAfter how long a body may run before its call is stuck; null if no call is ever stuck
     * @param shares limits that all replicas share, looked up if there is one
     */
    public TaskMeters(
            ObjectProvider<MeterRegistry> registries,
            ObjectProvider<TaskEngine> engine,
            @Nullable Duration stuckAfter,
            ObjectProvider<ClusterShares> shares) {
        this.registries = registries;
        this.running =
                SingletonSupplier.of(() -> new RunningCalls(engine.getObject().liveCalls(), stuckAfter));
        this.shares = shares;
    }

    /**
     * Returns the listener that counts and times calls.
     *
     * @return the same listener each time
     */
    public TaskListener calls() {
        return calls;
    }

    /**
     * Returns the customizer that registers the gauges of each limit.
     *
     * @return the same customizer each time
     */
    public TaskLimitCustomizer limits() {
        return limits;
    }

    /**
     * Returns the listener that counts statements of stopped calls. Without it there is no meter of them.
     *
     * @return the same listener each time
     */
    public TaskListener statements() {
        withStatements = true;
        if (registry != null) {
            statements.register(this);
        }
        return statements;
    }

    /** Registers the meters at the first start, when all limits have their final names. Later starts change nothing. */
    public void start() {
        if (registry != null) {
            return;
        }
        MeterRegistry found = find();
        if (found == null) {
            calls.off();
            return;
        }
        registry = found;
        running.obtain(); // without a lock: it looks up the engine
        limits.register(this);
        calls.recordIn(this);
        if (withStatements) {
            statements.register(this);
        }
    }

    /** What gauges read. */
    RunningCalls running() {
        return running.obtain();
    }

    /** A limit is shared by all replicas. */
    void listenToExchanges() {
        ClusterShares present = listening.get() ? null : shares.getIfAvailable();
        if (present != null && listening.compareAndSet(false, true)) {
            present.listen(new ExchangeMeters(this));
        }
    }

    private @Nullable MeterRegistry find() {
        try {
            MeterRegistry one = registries.getIfUnique();
            List<MeterRegistry> all = one == null ? registries.orderedStream().toList() : List.of();
            return all.isEmpty() ? one : new CompositeMeterRegistry(Clock.SYSTEM, all);
        } catch (BeansException failure) {
            logger.warn(
                    "No meters virtual.thread.* are registered, because no MeterRegistry bean can be used", failure);
            return null;
        }
    }

    /**
     * Registers a meter. Before the start, after the close, and if the registry refuses the meter, one that records nothing
     * takes its place. A refusal is logged. It is not tried again, because then each call would cost an exception.
     *
     * @param meter registers the meter in the registry that it is given
     */
    <M extends Meter> M register(Function<MeterRegistry, M> meter) {
        try (ScopedLock held = lock.hold()) {
            MeterRegistry present = registry;
            if (present == null) {
                return meter.apply(nowhere);
            }
            M made = meter.apply(present);
            Registered one = new Registered(present, made.getId());
            if (registered.add(one)) {
                own.add(one);
            }
            return made;
        } catch (Throwable failure) {
            M none = meter.apply(nowhere);
            logger.warn(
                    "Meter '{}' {} cannot be registered and is missing until the application restarts. Check the meter"
                            + " registry and its filters.",
                    none.getId().getName(),
                    none.getId().getTags(),
                    failure);
            return none;
        }
    }

    Counter counter(String name, String description, Tags tags) {
        return register(Counter.builder(name).description(description).tags(tags)::register);
    }

    Timer timer(String name, String description, Tags tags) {
        return register(Timer.builder(name).description(description).tags(tags)::register);
    }

    /** The tag of how something has ended. */
    static Tags outcome(Enum<?> outcome) {
        return Tags.of("outcome", outcome.name().toLowerCase(Locale.ROOT));
    }

    /** A meter for each outcome. */
    static <E extends Enum<E>, M extends Meter> Map<E, M> byOutcome(E[] outcomes, Function<Tags, M> meter) {
        return Arrays.stream(outcomes).collect(Collectors.toMap(each -> each, each -> meter.apply(outcome(each))));
    }

    /** Removes the meters that this context registered. A stop leaves them: calls may still end, and the context may start again. */
    @Override
    public void destroy() {
        try (ScopedLock held = lock.hold()) {
            registry = null;
            for (Registered each : own) {
                each.registry().remove(each.id());
                registered.remove(each);
            }
            own.clear();
        }
    }
}
