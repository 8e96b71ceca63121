package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * The meters {@code virtual.thread.*} of one application context, in its registry from its start until it is closed.
 *
 * <p>Looks for the registry when every bean is there, and not before: what happens earlier is kept in memory, and recorded
 * then. Without a registry nothing is recorded. Of several, the primary one gets the meters, or all where none is primary.
 */
public final class TaskMeters implements SmartLifecycle, DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(TaskMeters.class);

    private final ObjectProvider<MeterRegistry> registries;
    private final ObjectProvider<TaskEngine> engine;
    private final Supplier<? extends @Nullable Duration> stuckAfter;
    private final CallMeters calls = new CallMeters();
    private final LimitMeters limits = new LimitMeters();
    private @Nullable OwnMeters meters;
    private volatile boolean running;

    /**
     * Meters that have not been registered yet.
     *
     * @param registries asked at the start
     * @param engine asked at the start, what runs the calls
     * @param stuckAfter asked at the start, how long a body runs before its call counts as stuck; null for any time
     */
    public TaskMeters(
            ObjectProvider<MeterRegistry> registries,
            ObjectProvider<TaskEngine> engine,
            Supplier<? extends @Nullable Duration> stuckAfter) {
        this.registries = registries;
        this.engine = engine;
        this.stuckAfter = stuckAfter;
    }

    /**
     * What has to hear of every call.
     *
     * @return the same listener each time
     */
    public TaskListener calls() {
        return calls;
    }

    /**
     * What has to see every limit.
     *
     * @return the same customizer each time
     */
    public TaskLimitCustomizer limits() {
        return limits;
    }

    /** Registers the meters, at the first start. */
    @Override
    public void start() {
        running = true;
        if (meters != null) {
            return;
        }
        MeterRegistry registry = registry();
        if (registry == null) {
            calls.off();
            return;
        }
        meters = new OwnMeters(registry);
        RunningCalls live = new RunningCalls(engine.getObject().liveCalls(), stuckAfter.get());
        limits.begin(meters, live);
        calls.begin(meters, live);
    }

    private @Nullable MeterRegistry registry() {
        try {
            MeterRegistry one = registries.getIfUnique();
            return one == null ? all(registries.orderedStream().toList()) : one;
        } catch (BeansException failure) {
            logger.warn("No meters of virtual threads, since there is no usable MeterRegistry", failure);
            return null;
        }
    }

    private static @Nullable MeterRegistry all(List<MeterRegistry> registries) {
        if (registries.isEmpty()) {
            return null;
        }
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        registries.forEach(composite::add);
        return composite;
    }

    /** Leaves the meters where they are: calls may still end, and the context may be started again. */
    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** First to start, when every limit has its final name; last to stop. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    /** Removes the meters from the registry, those excepted that another context uses. */
    @Override
    public void destroy() {
        if (meters != null) {
            meters.close();
        }
    }
}
