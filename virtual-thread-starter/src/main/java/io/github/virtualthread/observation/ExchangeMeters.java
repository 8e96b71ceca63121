package io.github.virtualthread.observation;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/** Times the exchanges with what lends permits to all replicas. All outcomes are there from the start. */
final class ExchangeMeters implements ClusterShares.Listener {

    private static final String EXCHANGE = "Time of the exchanges with the engine that lends permits to all replicas";
    private static final String LOST = "How often the engine could not be reached for the time of a lease";

    private final Map<Outcome, Timer> exchanges;
    private final Counter lost;

    ExchangeMeters(TaskMeters meters) {
        exchanges = TaskMeters.byOutcome(
                Outcome.values(), tags -> meters.timer("virtual.thread.cluster.exchange", EXCHANGE, tags));
        lost = meters.counter("virtual.thread.cluster.lost", LOST, Tags.empty());
    }

    @Override
    public void exchanged(Duration took, Outcome outcome) {
        Objects.requireNonNull(exchanges.get(outcome)).record(took);
    }

    @Override
    public void lost() {
        lost.increment();
    }
}
