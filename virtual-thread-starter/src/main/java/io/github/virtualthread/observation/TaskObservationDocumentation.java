package io.github.virtualthread.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;
import java.util.Locale;

/** The observations that the starter makes, with their keys. */
public enum TaskObservationDocumentation implements ObservationDocumentation {

    /** One run of a body, on its virtual thread or, with {@code @Limited}, on the thread of the caller. */
    RUN;

    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
        return DefaultTaskObservationConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinality.values();
    }

    /** Keys with few possible values, for meters and spans. */
    public enum LowCardinality implements KeyName {

        /** Name of the task: {@code Class.method}, or the {@code name} of the annotation. */
        METHOD,

        /** Name of the limit; {@code none} for a call without a limit. */
        LIMIT,

        /** How the run ended: {@code success}, {@code error}, {@code timeout} or {@code cancelled}; before, {@code unknown}. */
        OUTCOME;

        @Override
        public String asString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Keys with many possible values, for spans only. */
    public enum HighCardinality implements KeyName {

        /** Name of the thread of the body, as in logs and thread dumps. */
        THREAD;

        @Override
        public String asString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
