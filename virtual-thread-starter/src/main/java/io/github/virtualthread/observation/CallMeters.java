package io.github.virtualthread.observation;

import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times every call. The first call of a method under a limit makes their series, which is kept with the spec. Calls by
 * hand have a spec each: the first event of such a call costs two look-ups and allocates no key.
 */
final class CallMeters implements TaskListener {

    private static final String NONE = "none";

    private final LimitMeters limits;
    private final Map<Object, Map<String, Series>> series =
            new ConcurrentHashMap<>(); // by limit or NONE, then by method
    private final Map<Meter.Id, List<LongSupplier>> gauges = new ConcurrentHashMap<>();
    private final Map<String, Timer> pins = new ConcurrentHashMap<>();
    private final Queue<Consumer<TaskMeters>> early = new ConcurrentLinkedQueue<>(); // events from before the start
    private final ScopedLock lock = new ScopedLock();
    private final Function<TaskSpec, Series> lookup = this::lookUp;
    private volatile @Nullable TaskMeters meters; // null before the start
    private volatile boolean off;

    CallMeters(LimitMeters limits) {
        this.limits = limits;
    }

    /** Records all earlier events and, from now on, every event at once. */
    void recordIn(TaskMeters registering) {
        meters = registering;
        off = false; // there was no registry at an earlier start
        catchUp();
    }

    /** Records nothing, because there is no registry. */
    void off() {
        off = true;
        early.clear();
    }

    /** Not without a registry. Before the start, there may be one. */
    @Override
    public boolean hears(TaskSpec spec) {
        return !off;
    }

    @Override
    public void submitted(TaskCall call) {
        TaskSpec spec = call.spec();
        TaskLimit limit = spec.limit();
        if (limit != null && call.key() != null) {
            limits.hasKeys(limit);
        }
        if (limit != null && limit.isDryRun()) {
            limits.isDryRun(limit);
        }
        Series series = series(spec);
        if (series != null) {
            series.submitted();
        } else {
            later(spec, Series::submitted);
        }
    }

    @Override
    public void started(TaskCall call) {
        if (off) { // another listener hears
            return;
        }
        TaskSpec spec = call.spec();
        long waited = Calls.waitedNanos(call);
        Series series = series(spec);
        if (series != null) {
            series.started(waited);
        } else {
            later(spec, its -> its.started(waited));
        }
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        if (off) {
            return;
        }
        TaskSpec spec = call.spec();
        boolean started = call.isStarted();
        long ran = Calls.ranNanos(call);
        Series series = series(spec);
        if (series != null) {
            series.finished(started, ran, outcome, name(failure));
        } else {
            String exception = name(failure);
            later(spec, its -> its.finished(started, ran, outcome, exception));
        }
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        TaskSpec spec = call.spec();
        Reason reason = rejection.reason();
        Series series = series(spec);
        if (series != null) {
            series.rejected(reason);
        } else {
            later(spec, its -> its.rejected(reason));
        }
    }

    @Override
    public void stuck(TaskCall call) {
        Series series = series(call.spec());
        if (series != null) {
            series.stuck(call.spec());
        }
    }

    /** Pins before the start are not recorded. */
    @Override
    public void pinned(String task, Duration time) {
        TaskMeters known = meters;
        if (known != null) {
            String what = "Time that a blocked virtual thread kept its carrier busy";
            pins.computeIfAbsent(task, method -> known.timer("virtual.thread.pinned", what, Tags.of("method", method)))
                    .record(time);
        }
    }

    private @Nullable Series series(TaskSpec spec) {
        return meters == null ? null : Calls.kept(spec, this, lookup);
    }

    private Series lookUp(TaskSpec spec) {
        return series(Objects.requireNonNull(meters), spec.limit(), spec.name());
    }

    private Series series(TaskMeters known, @Nullable TaskLimit limit, String method) {
        Map<String, Series> methods =
                series.computeIfAbsent(limit == null ? NONE : limit, first -> new ConcurrentHashMap<>());
        Series made = methods.get(method);
        return made == null ? create(known, limit, method, methods) : made;
    }

    /** Creates each series once, and not inside the map: it runs filters of the application. */
    private Series create(TaskMeters known, @Nullable TaskLimit limit, String method, Map<String, Series> methods) {
        try (ScopedLock held = lock.hold()) {
            Series made = methods.get(method);
            if (made == null) {
                made = new Series(known, limits.tags(limit).and("method", method));
                methods.put(method, made);
            }
            return made;
        }
    }

    /**
     * Keeps an event for later. If the meters begin meanwhile, it is recorded at once. It does not hold the call, which would keep the
     * result alive.
     */
    private void later(TaskSpec spec, Consumer<Series> event) {
        if (!off) {
            TaskLimit limit = spec.limit();
            String method = spec.name();
            early.add(known -> event.accept(series(known, limit, method)));
            catchUp();
        }
    }

    private void catchUp() {
        TaskMeters known = meters;
        if (known != null) {
            for (Consumer<TaskMeters> next = early.poll(); next != null; next = early.poll()) {
                next.accept(known);
            }
        }
    }

    /** Returns the tag value of an exception. For an anonymous class this is the name of the class that it extends. */
    private static String name(@Nullable Throwable failure) {
        if (failure == null) {
            return NONE;
        }
        Class<?> type = failure.getClass();
        String name = type.getSimpleName();
        while (name.isEmpty()) {
            type = type.getSuperclass();
            name = type.getSimpleName();
        }
        return name;
    }

    /** The meters of all calls of one method under one limit. */
    private final class Series {

        private final TaskMeters meters;
        private final Tags tags;
        private final Counter submitted;
        private final LongAdder active = new LongAdder();
        private final Timer wait;
        private final Timer success;
        private final Map<Outcome, Map<String, Timer>> others = new ConcurrentHashMap<>();
        private final Map<Reason, Counter> rejected = new ConcurrentHashMap<>();
        private @Nullable Counter stuck; // one thread watches all calls

        Series(TaskMeters meters, Tags tags) {
            this.meters = meters;
            this.tags = tags;
            this.submitted = meters.counter("virtual.thread.submitted", "Calls that were made", tags);
            this.wait = meters.timer("virtual.thread.wait", "Time from the call to the start of its body", tags);
            this.success = run(Outcome.SUCCESS, NONE);
            gauge("virtual.thread.tasks.active", "Calls whose body runs", active::sum);
        }

        void submitted() {
            submitted.increment();
        }

        void started(long waited) {
            active.increment();
            wait.record(waited, TimeUnit.NANOSECONDS);
        }

        void finished(boolean started, long ran, Outcome outcome, String exception) {
            if (started) {
                active.decrement();
            }
            (outcome == Outcome.SUCCESS ? success : other(outcome, exception)).record(ran, TimeUnit.NANOSECONDS);
        }

        void rejected(Reason reason) {
            Counter counter = rejected.get(reason);
            if (counter == null) {
                counter = meters.counter(
                        "virtual.thread.rejected", "Calls that were refused", tags.and("reason", reason.name()));
                rejected.put(reason, counter);
            }
            counter.increment();
        }

        void stuck(TaskSpec spec) {
            Counter counter = stuck;
            if (counter == null) {
                gauge(
                        "virtual.thread.tasks.stuck",
                        "Calls that have run longer than virtual-thread.stuck-after and still run",
                        () -> meters.running().stuck(spec));
                counter = meters.counter(
                        "virtual.thread.stuck", "Calls that ran longer than virtual-thread.stuck-after", tags);
                stuck = counter;
            }
            counter.increment();
        }

        private Timer other(Outcome outcome, String exception) {
            Map<String, Timer> timers = others.computeIfAbsent(outcome, first -> new ConcurrentHashMap<>());
            Timer timer = timers.get(exception);
            if (timer == null) {
                timer = run(outcome, exception);
                timers.put(exception, timer);
            }
            return timer;
        }

        private Timer run(Outcome outcome, String exception) {
            return meters.timer(
                    "virtual.thread.tasks",
                    "Time that the body ran, zero for a call that ended without a start",
                    tags.and(TaskMeters.outcome(outcome)).and("exception", exception));
        }

        /** Registers a gauge. If a filter drops the tag of the method, the methods share one gauge, which shows their sum. */
        private void gauge(String name, String description, LongSupplier value) {
            List<LongSupplier> values = new CopyOnWriteArrayList<>(List.of(value));
            Gauge gauge = meters.register(Gauge.builder(name, () -> values.stream()
                            .mapToLong(LongSupplier::getAsLong)
                            .sum())
                    .description(description)
                    .tags(tags)::register);
            List<LongSupplier> first = gauges.putIfAbsent(gauge.getId(), values);
            if (first != null) {
                first.add(value);
            }
        }
    }
}
