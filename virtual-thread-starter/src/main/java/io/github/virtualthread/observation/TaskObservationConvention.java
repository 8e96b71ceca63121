package io.github.virtualthread.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and keys of the observations of runs. A bean of this type replaces {@link DefaultTaskObservationConvention}, which is
 * easiest done by extending that.
 *
 * <p>Asked on the thread of the body, at the start of a run and at its end. Must not block. A run whose convention throws at
 * the start is not observed; one whose convention throws at the end is not reported. Either is logged, and changes nothing for
 * the call.
 */
public interface TaskObservationConvention extends ObservationConvention<TaskObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof TaskObservationContext;
    }
}
