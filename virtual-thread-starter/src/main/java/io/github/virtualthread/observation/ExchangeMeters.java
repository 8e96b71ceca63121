package io.github.virtualthread.observation;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Times the exchanges with what lends permits to all replicas. All outcomes are there from the start. */
final class ExchangeMeters implements ClusterShares.Listener {

    private final Map<Outcome, Timer> exchanges = new EnumMap<>(Outcome.class);
    private final Counter lost;

    ExchangeMeters(TaskMeters meters) {
        for (Outcome outcome : Outcome.values()) {
            exchanges.put(
                    outcome,
                    meters.register(Timer.builder("virtual.thread.cluster.exchange")
                            .description("Time of the exchanges with the engine that lends permits to all replicas")
                            .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))::register));
        }
        lost = meters.register(Counter.builder("virtual.thread.cluster.lost")
                .description("How often the engine could not be reached for the time of a lease")::register);
    }

    @Override
    public void exchanged(Duration took, Outcome outcome) {
        Timer timer = exchanges.get(outcome);
        if (timer != null) {
            timer.record(took);
        }
    }

    @Override
    public void lost() {
        lost.increment();
    }
}
