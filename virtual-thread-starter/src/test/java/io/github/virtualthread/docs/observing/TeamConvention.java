package io.github.virtualthread.docs.observing;

import io.github.virtualthread.observation.DefaultTaskObservationConvention;
import io.github.virtualthread.observation.TaskObservationContext;
import io.micrometer.common.KeyValues;
import org.springframework.stereotype.Component;

// example: TracingConvention
@Component
class TeamConvention extends DefaultTaskObservationConvention {

    @Override
    public KeyValues getLowCardinalityKeyValues(TaskObservationContext context) {
        return super.getLowCardinalityKeyValues(context).and("team", "prices");
    }
}
// end
