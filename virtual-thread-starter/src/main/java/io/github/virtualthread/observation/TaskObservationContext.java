package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/** The context of the observation of one run. It is used on the thread of the body only. */
public final class TaskObservationContext extends Observation.Context {

    private final TaskCall call;
    private final String thread = Thread.currentThread().getName();
    private @Nullable Outcome outcome;

    /** Must be called on the thread of the body. */
    TaskObservationContext(TaskCall call) {
        this.call = call;
    }

    /**
     * Returns the call whose body runs.
     *
     * @return the call, with its name, limit and times
     */
    public TaskCall call() {
        return call;
    }

    /**
     * Returns the name of the thread on which the body runs.
     *
     * @return the name
     */
    public String thread() {
        return thread;
    }

    /**
     * Returns how the run ended.
     *
     * @return the outcome; null while the body runs, as it does when conventions are asked for the first time
     */
    public @Nullable Outcome outcome() {
        return outcome;
    }

    void ended(Outcome how) {
        outcome = how;
    }
}
