package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The meters of all calls of one method under one limit. */
final class CallSeries {

    private static final String NONE = "none";

    private final OwnMeters meters;
    private final Tags tags;
    private final Counter submitted;
    private final LongAdder active = new LongAdder();
    private final Timer wait;
    private final Timer success;
    private final Map<Outcome, Map<String, Timer>> others = new EnumMap<>(Outcome.class);
    private final Map<Reason, Counter> rejected = new ConcurrentHashMap<>();
    private @Nullable Counter stuck; // one thread watches all calls

    CallSeries(OwnMeters meters, String method, @Nullable TaskLimit limit) {
        this.meters = meters;
        this.tags = meters.limitTags(limit).and("method", method);
        this.submitted = meters.counter("virtual.thread.submitted", "Calls that were made", tags);
        this.wait = meters.timer("virtual.thread.wait", "Time from the call to the start of its body", tags);
        this.success = run(Outcome.SUCCESS, NONE);
        for (Outcome outcome : Outcome.values()) {
            others.put(outcome, new ConcurrentHashMap<>());
        }
        meters.gauge(GaugeSpec.sum("virtual.thread.tasks.active", "Calls whose body runs"), tags, active::sum);
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
        timer(outcome, exception).record(ran, TimeUnit.NANOSECONDS);
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

    /** Tag value for what a call has failed with. A class without a name goes by that of the class it extends. */
    static String name(@Nullable Throwable failure) {
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

    void stuck(RunningCalls running, TaskSpec spec) {
        Counter counter = stuck;
        if (counter == null) {
            meters.gauge(
                    GaugeSpec.sum(
                            "virtual.thread.tasks.stuck",
                            "Calls that have run longer than virtual-thread.stuck-after and still run"),
                    tags,
                    () -> running.stuck(spec));
            counter = meters.counter(
                    "virtual.thread.stuck", "Calls that ran longer than virtual-thread.stuck-after", tags);
            stuck = counter;
        }
        counter.increment();
    }

    private Timer timer(Outcome outcome, String exception) {
        if (outcome == Outcome.SUCCESS) {
            return success;
        }
        Map<String, Timer> timers = others.getOrDefault(outcome, Map.of());
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
                tags.and("outcome", outcome.name().toLowerCase(Locale.ROOT), "exception", exception));
    }
}
