package io.github.virtualthread.observation;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times every call. Once the first call of a method under a limit has made their series, an event costs two
 * look-ups and makes no key: specs of calls by hand are made for each call, and are none.
 */
final class CallMeters implements TaskListener {

    /** What happened before there was a registry. Holds no call: that would keep its result alive. */
    private record Early(@Nullable TaskLimit limit, String method, Consumer<CallSeries> event) {}

    private final Map<String, CallSeries> unlimited = new ConcurrentHashMap<>();
    private final Map<TaskLimit, Map<String, CallSeries>> limited = new ConcurrentHashMap<>();
    private final Map<String, Timer> pins = new ConcurrentHashMap<>();
    private final Queue<Early> early = new ConcurrentLinkedQueue<>();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable RunningCalls running;
    private volatile @Nullable OwnMeters meters;
    private volatile boolean off;

    /** From now on there is a registry. */
    void begin(OwnMeters meters, RunningCalls running) {
        this.running = running;
        this.meters = meters;
        catchUp();
    }

    /** There will be no registry. */
    void off() {
        off = true;
        early.clear();
    }

    @Override
    public void submitted(TaskCall call) {
        TaskSpec spec = call.spec();
        CallSeries series = series(spec);
        if (series != null) {
            series.submitted();
        } else {
            later(spec, CallSeries::submitted);
        }
    }

    @Override
    public void started(TaskCall call) {
        TaskSpec spec = call.spec();
        long waited = call.waited().toNanos();
        CallSeries series = series(spec);
        if (series != null) {
            series.started(waited);
        } else {
            later(spec, its -> its.started(waited));
        }
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        TaskSpec spec = call.spec();
        boolean started = call.isStarted();
        long ran = call.ran().toNanos();
        CallSeries series = series(spec);
        if (series != null) {
            series.finished(started, ran, outcome, CallSeries.name(failure));
        } else {
            String exception = CallSeries.name(failure);
            later(spec, its -> its.finished(started, ran, outcome, exception));
        }
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        TaskSpec spec = call.spec();
        Reason reason = rejection.reason();
        CallSeries series = series(spec);
        if (series != null) {
            series.rejected(reason);
        } else {
            later(spec, its -> its.rejected(reason));
        }
    }

    @Override
    public void stuck(TaskCall call) {
        CallSeries series = series(call.spec());
        RunningCalls known = running;
        if (series != null && known != null) {
            series.stuck(known, call.spec());
        }
    }

    /** Pins are recorded after the meters have begun. */
    @Override
    public void pinned(String task, Duration time) {
        OwnMeters known = meters;
        if (known != null) {
            pins.computeIfAbsent(
                            task,
                            first -> known.timer(
                                    "virtual.thread.pinned",
                                    "Time that a blocked virtual thread kept its carrier busy",
                                    Tags.of("method", first)))
                    .record(time);
        }
    }

    private @Nullable CallSeries series(TaskSpec spec) {
        OwnMeters known = meters;
        return known == null ? null : series(known, spec.limit(), spec.name());
    }

    private CallSeries series(OwnMeters known, @Nullable TaskLimit limit, String method) {
        Map<String, CallSeries> methods = methods(limit);
        CallSeries series = methods.get(method);
        return series == null ? create(known, limit, method, methods) : series;
    }

    private Map<String, CallSeries> methods(@Nullable TaskLimit limit) {
        if (limit == null) {
            return unlimited;
        }
        Map<String, CallSeries> methods = limited.get(limit);
        return methods == null ? limited.computeIfAbsent(limit, first -> new ConcurrentHashMap<>()) : methods;
    }

    /** Once, and not inside of the map: filters of the application run meanwhile. */
    private CallSeries create(
            OwnMeters known, @Nullable TaskLimit limit, String method, Map<String, CallSeries> methods) {
        lock.lock();
        try {
            CallSeries series = methods.get(method);
            if (series == null) {
                series = new CallSeries(known, method, limit);
                methods.put(method, series);
            }
            return series;
        } finally {
            lock.unlock();
        }
    }

    /** The registry may come in between: looked at again. */
    private void later(TaskSpec spec, Consumer<CallSeries> event) {
        if (!off) {
            early.add(new Early(spec.limit(), spec.name(), event));
            catchUp();
        }
    }

    private void catchUp() {
        OwnMeters known = meters;
        if (known != null) {
            for (Early next = early.poll(); next != null; next = early.poll()) {
                next.event().accept(series(known, next.limit(), next.method()));
            }
        }
    }
}
