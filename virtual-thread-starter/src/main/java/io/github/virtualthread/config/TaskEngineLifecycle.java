package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Starts and stops, with the application, what has been made of the engine. The engine stops after the web server has drained its
 * requests, because these may still make calls, and before Spring's executors and the data sources close.
 */
@Internal
public final class TaskEngineLifecycle implements SmartLifecycle {

    private final List<Runnable> starts = new CopyOnWriteArrayList<>(); // the last one first
    private final List<Runnable> stops = new CopyOnWriteArrayList<>(); // the last one first
    private volatile boolean running;
    private volatile boolean stopped;

    TaskEngineLifecycle() {}

    /**
     * Adds a part. If the application has started already, or has stopped, so does the part, now.
     *
     * @param start may be called twice, and after a stop
     * @param stop called before the parts that were added before
     */
    public void add(Runnable start, Runnable stop) {
        starts.add(0, start);
        stops.add(0, stop);
        if (running) {
            start.run();
        } else if (stopped) {
            stop.run();
        }
    }

    @Override
    public void start() {
        running = true;
        stopped = false;
        starts.forEach(Runnable::run);
    }

    @Override
    public void stop() {
        running = false;
        stopped = true;
        stop(stops.iterator());
    }

    /** The others stop even if one of them fails. */
    private static void stop(Iterator<Runnable> left) {
        if (left.hasNext()) {
            try {
                left.next().run();
            } finally {
                stop(left);
            }
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
