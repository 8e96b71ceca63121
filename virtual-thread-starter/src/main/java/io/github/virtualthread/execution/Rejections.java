package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs rejected calls: the first of a limit at once, then one line per minute with their number, if there were any. Calls
 * that a stop drops are in the line of the stop.
 */
final class Rejections {

    private static final Logger logger = LoggerFactory.getLogger(Rejections.class);

    private final Map<String, Count> limits = new ConcurrentHashMap<>();
    private final TaskTimer timer;
    private final long period;
    private volatile boolean stopped;

    /**
     * Creates the log of an engine.
     *
     * @param timer wakes up for what was not logged at once
     * @param period minimum time between two lines of a limit
     */
    Rejections(TaskTimer timer, Duration period) {
        this.timer = timer;
        this.period = period.toNanos();
    }

    /** Throws nothing, because the rejected call is not complete yet. */
    @SuppressWarnings("EmptyCatch")
    void add(LimitExceededException rejection) {
        try {
            if (stopped || rejection.reason() != Reason.SHUTDOWN) {
                Count known = limits.get(rejection.limit());
                Count count = known == null ? limits.computeIfAbsent(rejection.limit(), Count::new) : known;
                count.add(rejection);
            }
        } catch (Throwable noMemory) {
            // the line of the next one counts this one too
        }
    }

    /** Number of calls that a limit rejected until now. */
    long total(String limit) {
        Count count = limits.get(limit);
        return count == null ? 0 : count.total.sum();
    }

    /** The engine has stopped: logs what was not logged. From now on, calls that come too late are logged too. */
    void stopped() {
        limits.values().forEach(Count::conclude);
        stopped = true;
    }

    /** The engine accepts calls again. */
    void started() {
        stopped = false;
    }

    /** The rejections of one limit. */
    private final class Count {

        private final String limit;
        private final LongAdder total = new LongAdder();
        private final Map<Reason, AtomicLong> unlogged = new EnumMap<>(Reason.class); // has all reasons
        private final AtomicLong loggedAt =
                new AtomicLong(System.nanoTime() - period); // so that the first is logged at once
        private volatile long since = System.nanoTime(); // the time of the first that is not logged, or earlier
        private final AtomicBoolean scheduled = new AtomicBoolean();
        private volatile @Nullable LimitExceededException last;

        private Count(String limit) {
            this.limit = limit;
            for (Reason reason : Reason.values()) {
                unlogged.put(reason, new AtomicLong());
            }
        }

        private void add(LimitExceededException rejection) {
            total.increment();
            last = rejection;
            of(rejection.reason()).incrementAndGet();
            logOrSchedule();
        }

        private void logOrSchedule() {
            long before = loggedAt.get();
            long now = System.nanoTime();
            if (now - before >= period && loggedAt.compareAndSet(before, now)) {
                log();
            } else if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
                schedule(period - (now - before));
            }
        }

        private void schedule(long nanos) {
            try {
                Future<?> unused = timer.schedule(() -> timer.handOff(this::wake), nanos); // a log may block
            } catch (Throwable noTimer) {
                scheduled.set(false); // the next rejection or the stop tries again
            }
        }

        private void wake() {
            scheduled.set(false); // before the numbers are read: a later rejection schedules again
            if (unlogged.values().stream().anyMatch(number -> number.get() > 0)) {
                logOrSchedule();
            }
        }

        private AtomicLong of(Reason reason) {
            return Objects.requireNonNull(unlogged.get(reason));
        }

        /** Writes one line for all rejections that were not logged, if there are any. */
        private void log() {
            long before = since;
            since = System.nanoTime();
            long number = 0;
            List<String> reasons = new ArrayList<>();
            for (Reason reason : Reason.values()) {
                long ofReason = of(reason).getAndSet(0);
                number += ofReason;
                if (ofReason > 0) {
                    reasons.add(String.format(Locale.ROOT, "%,d %s", ofReason, reason));
                }
            }
            if (number == 0) {
                return;
            }
            String what = number == 1
                    ? "a call:"
                    : String.format(
                            Locale.ROOT,
                            "%,d calls within %d s (%s); the last one:",
                            number,
                            Duration.ofNanos(System.nanoTime() - before).toSeconds() + 1,
                            String.join(", ", reasons));
            LimitExceededException rejection = Objects.requireNonNull(last); // written before it was counted
            SafeLog.write(() -> logger.warn("Limit '{}' has rejected {} {}", limit, what, rejection.getMessage()));
        }

        private void conclude() {
            log();
            loggedAt.set(System.nanoTime() - period); // the next one is logged at once
        }
    }
}
