package io.github.virtualthread.config;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Drains the engine when the application stops: after the web server has drained its requests, because these may still make
 * calls, and before Spring's executors and the data sources close.
 */
final class TaskEngineLifecycle implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private final TaskEngine engine;
    private final TaskLimits limits;
    private final Duration awaitTermination;
    private final CallWatch watch;
    private final ObjectProvider<ClusterShares> shares;
    private volatile boolean running;

    TaskEngineLifecycle(
            TaskEngine engine,
            TaskLimits limits,
            Duration awaitTermination,
            CallWatch watch,
            ObjectProvider<ClusterShares> shares) {
        this.engine = engine;
        this.limits = limits;
        this.awaitTermination = awaitTermination;
        this.watch = watch;
        this.shares = shares;
    }

    @Override
    public void start() {
        engine.start();
        watch.start();
        if (isShared()) {
            shares.getObject().start();
        }
        running = true;
    }

    /** Blocks until calls have ended, so that nothing closes while one is running. The engine can be started again. */
    @Override
    public void stop() {
        running = false;
        limits.all().stream().filter(TaskLimit::isOccupied).forEach(TaskEngineLifecycle::warnOfOccupied);
        try {
            engine.stop(awaitTermination);
        } finally {
            watch.stop();
            if (isShared()) { // what no call uses any more is free for the other replicas at once
                shares.getObject().stop();
            }
        }
    }

    private boolean isShared() {
        return limits.all().stream().anyMatch(limit -> limit.settings().isShared());
    }

    /** Before the calls have their time to finish, because those that wait for this limit cannot. */
    private static void warnOfOccupied(TaskLimit limit) {
        SafeLog.write(() -> logger.warn(
                "Limit '{}' is still occupied while the application stops, so calls that wait for it cannot run. Close what"
                        + " occupy() returned.",
                limit.name()));
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return ExecutorConfigurationSupport.DEFAULT_PHASE + 1;
    }

    /**
     * Whether the context may stop it between test classes that share the context. Overrides a method of Spring 7; Spring 6
     * does not call it.
     *
     * @return false
     */
    @SuppressWarnings("MissingOverride")
    public boolean isPauseable() {
        return false;
    }
}
