package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes each run an {@link Observation}. Its parent is the observation that was current when the call was made. It is current
 * itself while the body runs.
 *
 * <p>Nothing is kept of a call that has ended, whatever its outcome.
 */
public final class TaskObservations implements TaskListener {

    private static final TaskObservationConvention DEFAULT = new DefaultTaskObservationConvention();

    private final Supplier<ObservationRegistry> registry;
    private final Supplier<? extends @Nullable TaskObservationConvention> convention;
    final Map<TaskCall, Run> runs = new ConcurrentHashMap<>(); // of calls that have been submitted and have not ended

    /**
     * Creates a listener that observes every call from now on.
     *
     * @param registry supplies the registry; called for each call, on the thread of the caller
     * @param convention supplies names and keys; called for each call, on the thread of the caller. If it returns null, the convention of
     *     the registry applies, otherwise {@link DefaultTaskObservationConvention}
     */
    public TaskObservations(
            Supplier<ObservationRegistry> registry,
            Supplier<? extends @Nullable TaskObservationConvention> convention) {
        this.registry = registry;
        this.convention = convention;
    }

    @Override
    public boolean hears(TaskSpec spec) {
        return !registry.get().isNoop();
    }

    @Override
    public void submitted(TaskCall call) {
        ObservationRegistry present = registry.get();
        if (!present.isNoop()) {
            runs.put(call, new Run(present, convention.get()));
        }
    }

    @Override
    public void started(TaskCall call) {
        Run run = runs.get(call);
        if (run != null) {
            run.start(call);
        }
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        Run run = runs.remove(call);
        if (run != null) {
            run.stop(outcome, failure);
        }
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        runs.remove(call);
    }

    /** What is kept of a call: its parent and, once it runs, its observation. Handed from the caller's thread to the body's. */
    static final class Run {

        private final ObservationRegistry registry;
        private final @Nullable TaskObservationConvention custom;
        private final @Nullable Observation parent;
        private @Nullable TaskObservationContext context;
        private @Nullable Observation observation;
        private Observation.@Nullable Scope scope;
        private Observation.@Nullable Scope outer; // around it

        Run(ObservationRegistry registry, @Nullable TaskObservationConvention custom) {
            this.registry = registry;
            this.custom = custom;
            this.parent = registry.getCurrentObservation();
        }

        void start(TaskCall call) {
            TaskObservationContext made = new TaskObservationContext(call);
            made.setParentObservation(parent);
            Observation created = Observation.createNotStarted(custom, DEFAULT, () -> made, registry);
            context = made;
            observation = created;
            try {
                created.start();
            } catch (Throwable broken) {
                // the convention is asked first, and for the name last: without a name no handler has begun
                if (made.getName() == null) {
                    observation = null;
                }
                throw broken;
            }
            outer = registry.getCurrentObservationScope();
            try {
                scope = created.openScope();
            } catch (Throwable broken) {
                close(registry.getCurrentObservationScope()); // of the handlers that came before the one that threw
                throw broken;
            }
        }

        /** Does nothing for a call that was never started: it has neither observation nor scope. */
        void stop(Outcome outcome, @Nullable Throwable failure) {
            Observation started = observation;
            if (started == null || context == null) {
                return;
            }
            try {
                context.ended(outcome);
                if (failure != null) {
                    started.error(failure);
                }
            } finally {
                try {
                    close(scope);
                } finally {
                    started.stop();
                }
            }
        }

        /** Leaves nothing current on the thread, which may be the caller's, even if a handler throws. */
        private void close(Observation.@Nullable Scope open) {
            if (open != null && !open.equals(outer)) {
                try {
                    open.close();
                } finally {
                    registry.setCurrentObservationScope(outer);
                }
            }
        }
    }
}
