package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.observation.TaskObservationDocumentation.HighCardinality;
import io.github.virtualthread.observation.TaskObservationDocumentation.LowCardinality;
import io.micrometer.common.KeyValues;
import java.util.Locale;

/**
 * Names observations {@code virtual.thread.task} and gives them the keys of {@link TaskObservationDocumentation}. Spans are named
 * after the method.
 */
public class DefaultTaskObservationConvention implements TaskObservationConvention {

    /** Must differ from the names of the starter's meters: they would collide in a registry. */
    private static final String NAME = "virtual.thread.task";

    private static final String UNKNOWN = "unknown";

    /** Creates a convention; it has no state. */
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
