package io.github.virtualthread.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and key values of the observations of runs. A bean of this type replaces {@link DefaultTaskObservationConvention}; it
 * is easiest to extend that class.
 *
 * <p>Conventions are called on the thread of the body, at the start and at the end of a run, and must not block. If one throws at
 * the start, the run is not observed; if it throws at the end, the run is not reported. Both are logged and change nothing for
 * the call.
 */
public interface TaskObservationConvention extends ObservationConvention<TaskObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof TaskObservationContext;
    }
}
