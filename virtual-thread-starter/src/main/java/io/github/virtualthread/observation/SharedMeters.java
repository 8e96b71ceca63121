package io.github.virtualthread.observation;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The meters of all contexts that use one registry. Two contexts, as in tests or a hierarchy, may have the same meter there:
 * it is registered by the first and removed by the last.
 */
final class SharedMeters {

    private static final ReentrantLock lock = new ReentrantLock();
    private static final Map<MeterRegistry, SharedMeters> ofRegistries = new HashMap<>(); // guarded by lock

    private final MeterRegistry registry;
    private final Map<Meter.Id, Shared> meters = new HashMap<>();
    private int leases;

    private SharedMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /** A meter by the name it was asked for, and by the one that filters of the registry made of that. */
    private static final class Shared {

        private final Meter meter;
        private final Gauges gauges;
        private final Set<Meter.Id> ids = new HashSet<>();
        private int users;

        Shared(Meter meter, Gauges gauges) {
            this.meter = meter;
            this.gauges = gauges;
        }
    }

    private record Use(Shared shared, @Nullable DoubleSupplier value) {}

    static Lease lease(MeterRegistry registry) {
        lock.lock();
        try {
            SharedMeters meters = ofRegistries.computeIfAbsent(registry, SharedMeters::new);
            meters.leases++;
            return new Lease(meters);
        } finally {
            lock.unlock();
        }
    }

    /** What one context uses. */
    static final class Lease implements AutoCloseable {

        private final SharedMeters meters;
        private final List<Use> uses = new ArrayList<>();
        private boolean closed;

        private Lease(SharedMeters meters) {
            this.meters = meters;
        }

        /**
         * The meter of that name and tags.
         *
         * @param register registers it, if nobody has; its argument is what a gauge shows
         * @param both makes one value of a gauge of those of two users
         * @param value what this user adds to a gauge, null for another meter
         * @return null after {@link #close}
         */
        @Nullable
        Meter acquire(
                Meter.Id id,
                Function<Gauges, Meter> register,
                DoubleBinaryOperator both,
                @Nullable DoubleSupplier value) {
            lock.lock();
            try {
                if (closed) {
                    return null;
                }
                Shared shared = meters.find(id, register, both);
                shared.users++;
                if (value != null) {
                    shared.gauges.add(value);
                }
                uses.add(new Use(shared, value));
                return shared.meter;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                if (!closed) {
                    closed = true;
                    meters.end(uses);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private Shared find(Meter.Id id, Function<Gauges, Meter> register, DoubleBinaryOperator both) {
        Shared shared = meters.get(id);
        if (shared == null) {
            Gauges gauges = new Gauges(both);
            Meter meter = register.apply(gauges);
            // a filter may make one of two, by taking a tag away
            shared = meters.get(meter.getId());
            if (shared == null) {
                shared = new Shared(meter, gauges);
                remember(shared, meter.getId());
            }
            remember(shared, id);
        }
        return shared;
    }

    private void remember(Shared shared, Meter.Id id) {
        meters.put(id, shared);
        shared.ids.add(id);
    }

    private void end(List<Use> uses) {
        if (--leases == 0) {
            ofRegistries.remove(registry);
        }
        for (Use use : uses) {
            Shared shared = use.shared();
            if (use.value() != null) {
                shared.gauges.remove(use.value());
            }
            if (--shared.users == 0) {
                shared.ids.forEach(meters::remove);
                registry.remove(shared.meter);
            }
        }
    }
}
