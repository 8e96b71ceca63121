package io.github.virtualthread.config;

import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.TaskEngine;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Drains the engine when the application stops: after the web server has drained its requests, because these may still make
 * calls, and before Spring's executors and the data sources close.
 */
final class TaskEngineLifecycle implements SmartLifecycle {

    private final TaskEngine engine;
    private final Duration awaitTermination;
    private final CallWatch watch;
    private volatile boolean running;

    TaskEngineLifecycle(TaskEngine engine, Duration awaitTermination, CallWatch watch) {
        this.engine = engine;
        this.awaitTermination = awaitTermination;
        this.watch = watch;
    }

    @Override
    public void start() {
        engine.start();
        watch.start();
        running = true;
    }

    /** Blocks until calls have ended, so that nothing closes while one is running. The engine can be started again. */
    @Override
    public void stop() {
        running = false;
        try {
            engine.stop(awaitTermination);
        } finally {
            watch.stop();
        }
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
