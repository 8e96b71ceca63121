package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.micrometer.core.instrument.Counter;
import java.util.Map;

/**
 * Counts statements of stopped calls. All outcomes are there from the start: Prometheus sees an increase only of a series that it
 * has read before, and the first statement that goes on in the database is the one to report. What ends earlier is not counted.
 */
final class StatementMeters implements TaskListener {

    private volatile Map<StatementOutcome, Counter> counters = Map.of();

    void register(TaskMeters meters) {
        String what = "Statements whose call was stopped";
        counters = TaskMeters.byOutcome(
                StatementOutcome.values(), tags -> meters.counter("virtual.thread.statements.cancelled", what, tags));
    }

    /** Not without a registry. */
    @Override
    public boolean hears(TaskSpec spec) {
        return !counters.isEmpty();
    }

    @Override
    public void statementEnded(TaskCall call, StatementOutcome outcome) {
        Counter counter = counters.get(outcome);
        if (counter != null) {
            counter.increment();
        }
    }
}
