package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.observation.TaskObservationDocumentation.HighCardinality;
import io.github.virtualthread.observation.TaskObservationDocumentation.LowCardinality;
import io.micrometer.common.KeyValues;
import java.util.Locale;

/**
 * Observations named {@code virtual.thread.task}, with the keys of {@link TaskObservationDocumentation}; their spans are named
 * after the method.
 */
public class DefaultTaskObservationConvention implements TaskObservationConvention {

    /** Not the name of a meter of the starter: the two would collide in a registry. */
    private static final String NAME = "virtual.thread.task";

    private static final String UNKNOWN = "unknown";

    /** A convention without state. */
    public DefaultTaskObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(TaskObservationContext context) {
        return context.call().spec().name();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(TaskObservationContext context) {
        TaskLimit limit = context.call().spec().limit();
        Outcome outcome = context.outcome();
        return KeyValues.of(
                LowCardinality.METHOD.withValue(context.call().spec().name()),
                LowCardinality.LIMIT.withValue(limit == null ? LimitNames.NONE : limit.name()),
                LowCardinality.OUTCOME.withValue(
                        outcome == null ? UNKNOWN : outcome.name().toLowerCase(Locale.ROOT)));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(TaskObservationContext context) {
        return KeyValues.of(HighCardinality.THREAD.withValue(context.thread()));
    }
}
