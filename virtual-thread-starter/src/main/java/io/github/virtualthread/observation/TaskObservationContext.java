package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/** What is known of a run while it is observed. Used on the thread of the body only. */
public final class TaskObservationContext extends Observation.Context {

    private final TaskCall call;
    private final String thread = Thread.currentThread().getName();
    private @Nullable Outcome outcome;

    /** To be made on the thread of the body. */
    TaskObservationContext(TaskCall call) {
        this.call = call;
    }

    /**
     * The call whose body runs.
     *
     * @return its name, limit and times
     */
    public TaskCall call() {
        return call;
    }

    /**
     * The thread on which the body runs.
     *
     * @return its name
     */
    public String thread() {
        return thread;
    }

    /**
     * How the run ended.
     *
     * @return null while it runs: conventions are asked at the start and at the end
     */
    public @Nullable Outcome outcome() {
        return outcome;
    }

    void ended(Outcome how) {
        outcome = how;
    }
}
