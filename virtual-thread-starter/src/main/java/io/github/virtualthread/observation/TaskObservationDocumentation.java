package io.github.virtualthread.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations there are, with their keys. */
public enum TaskObservationDocumentation implements ObservationDocumentation {

    /** One run of a body, on its virtual thread, or for {@code @Limited} on the thread of its caller. */
    RUN {

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
    };

    /** Keys with few values, for meters and spans. */
    public enum LowCardinality implements KeyName {

        /** Name of the task: {@code Class.method}, or the name given in the annotation. */
        METHOD("method"),

        /** Name of the limit, {@code none} for a call without one. */
        LIMIT("limit"),

        /** How the run ended: {@code success}, {@code error}, {@code timeout}, {@code cancelled}; {@code unknown} while it runs. */
        OUTCOME("outcome");

        private final String key;

        LowCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Keys with many values, for spans only. */
    public enum HighCardinality implements KeyName {

        /** Name of the thread of the body, as in logs and thread dumps. */
        THREAD("thread");

        private final String key;

        HighCardinality(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }
}
