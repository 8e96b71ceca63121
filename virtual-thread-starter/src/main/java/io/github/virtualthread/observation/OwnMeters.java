package io.github.virtualthread.observation;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.noop.NoopCounter;
import io.micrometer.core.instrument.noop.NoopGauge;
import io.micrometer.core.instrument.noop.NoopTimer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The meters of one context in one registry, until it is closed. A meter that the registry refuses is logged, and stands for
 * nothing from then on: registering it again at each call would cost every call an exception.
 */
final class OwnMeters implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TaskMeters.class);

    private final MeterRegistry registry;
    private final SharedMeters.Lease lease;
    private final Map<TaskLimit, Tags> limits = new ConcurrentHashMap<>();

    OwnMeters(MeterRegistry registry) {
        this.registry = registry;
        this.lease = SharedMeters.lease(registry);
    }

    /** The name that the limit has when it is asked first: a limit that is spelt anew remains one series. */
    Tags limitTags(@Nullable TaskLimit limit) {
        return limit == null
                ? Tags.of("limit", LimitNames.NONE)
                : limits.computeIfAbsent(limit, first -> Tags.of("limit", first.name()));
    }

    Counter counter(String name, String description, Tags tags) {
        Meter.Id id = new Meter.Id(name, tags, null, description, Meter.Type.COUNTER);
        return meter(
                id,
                none -> Counter.builder(name)
                        .description(description)
                        .tags(tags)
                        .register(registry),
                Double::sum,
                null,
                new NoopCounter(id),
                Counter.class);
    }

    Timer timer(String name, String description, Tags tags) {
        Meter.Id id = new Meter.Id(name, tags, null, description, Meter.Type.TIMER);
        return meter(
                id,
                none -> Timer.builder(name).description(description).tags(tags).register(registry),
                Double::sum,
                null,
                new NoopTimer(id),
                Timer.class);
    }

    void gauge(GaugeSpec spec, Tags tags, DoubleSupplier value) {
        Meter.Id id = new Meter.Id(spec.name(), tags, spec.unit(), spec.description(), Meter.Type.GAUGE);
        meter(
                id,
                gauges -> Gauge.builder(spec.name(), gauges, Gauges::value)
                        .strongReference(true)
                        .description(spec.description())
                        .baseUnit(spec.unit())
                        .tags(tags)
                        .register(registry),
                spec.both(),
                value,
                new NoopGauge(id),
                Gauge.class);
    }

    private <M extends Meter> M meter(
            Meter.Id id,
            Function<Gauges, Meter> register,
            DoubleBinaryOperator both,
            @Nullable DoubleSupplier value,
            M noop,
            Class<M> type) {
        try {
            Meter meter = lease.acquire(id, register, both, value);
            return meter == null ? noop : type.cast(meter);
        } catch (Throwable failure) {
            logger.warn(
                    "Meter '{}' {} cannot be registered, and is missing until the application is started again: look at"
                            + " the registry and its filters",
                    id.getName(),
                    id.getTags(),
                    failure);
            return noop;
        }
    }

    /** Meters that are asked for later stand for nothing. */
    @Override
    public void close() {
        lease.close();
    }
}
