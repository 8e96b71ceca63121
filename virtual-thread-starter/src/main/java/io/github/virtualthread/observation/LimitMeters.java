package io.github.virtualthread.observation;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.micrometer.core.instrument.Tags;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Gauges of every limit, those included that changed properties add. */
final class LimitMeters implements TaskLimitCustomizer {

    private static final GaugeSpec PERMITS =
            GaugeSpec.sum("virtual.thread.limit.permits", "Most calls that run at once");
    private static final GaugeSpec AVAILABLE =
            GaugeSpec.sum("virtual.thread.limit.available", "Permits that nobody holds");
    private static final GaugeSpec WAITING =
            GaugeSpec.sum("virtual.thread.limit.waiting", "Calls that wait for a permit");
    private static final GaugeSpec SATURATED = GaugeSpec.longest(
            "virtual.thread.limit.saturated",
            "How long no permit has been free, while calls wait or have been rejected since");
    private static final GaugeSpec QUEUE_CAPACITY =
            GaugeSpec.sum("virtual.thread.limit.queue.capacity", "Most calls that may wait");
    private static final GaugeSpec ABANDONED = GaugeSpec.sum(
            "virtual.thread.limit.abandoned", "Permits held by bodies whose call has ended by cancel or timeout");
    private static final GaugeSpec OLDEST_RUNNING = GaugeSpec.longest(
            "virtual.thread.limit.oldest.running", "How long the oldest of the bodies has run that run now");
    private static final GaugeSpec OLDEST_WAITING = GaugeSpec.longest(
            "virtual.thread.limit.oldest.waiting",
            "How long the first in the queue has waited, of those that wait now");

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<TaskLimit> limits = new LinkedHashSet<>(); // guarded by lock
    private @Nullable OwnMeters meters; // guarded by lock
    private @Nullable RunningCalls calls; // guarded by lock

    /** From now on there is a registry. */
    void begin(OwnMeters meters, RunningCalls calls) {
        lock.lock();
        try {
            this.meters = meters;
            this.calls = calls;
            limits.forEach(this::register);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void customize(TaskLimit limit) {
        lock.lock();
        try {
            if (limits.add(limit)) {
                register(limit);
            }
        } finally {
            lock.unlock();
        }
    }

    private void register(TaskLimit limit) {
        OwnMeters target = meters;
        RunningCalls running = calls;
        if (target == null || running == null) {
            return;
        }
        Tags tags = target.limitTags(limit);
        target.gauge(PERMITS, tags, limit::permits);
        target.gauge(AVAILABLE, tags, limit::available);
        target.gauge(WAITING, tags, limit::waiting);
        target.gauge(SATURATED, tags, () -> limit.saturated().toNanos() / 1e9);
        target.gauge(QUEUE_CAPACITY, tags, limit::queueCapacity);
        target.gauge(ABANDONED, tags, () -> running.of(limit).abandoned());
        target.gauge(OLDEST_RUNNING, tags, () -> running.of(limit).oldest());
        target.gauge(OLDEST_WAITING, tags, () -> running.firstWaiting(limit));
    }
}
