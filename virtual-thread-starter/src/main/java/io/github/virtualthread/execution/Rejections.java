package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs rejected calls and those that were ended because they took too long: the first of a limit or method at once, then one
 * line per minute with their number, if there were any. Calls that a stop drops are in the line of the stop, and not here. Calls of
 * clients that have gone are lines of the level DEBUG.
 */
final class Rejections {

    private static final Logger logger = LoggerFactory.getLogger(Rejections.class);

    private final Lines<Reason> limits = new Lines<>("Limit '%s' has rejected", Level.WARN);

    /** Of calls whose client has gone: nobody waited for them. */
    private final Lines<Reason> abandoned = new Lines<>("Limit '%s' has rejected", Level.DEBUG);

    private final Lines<Kind> methods = new Lines<>("%s has timed out in", Level.WARN);
    private final TaskTimer timer;
    private final long period;

    /**
     * Creates the log of an engine.
     *
     * @param timer wakes up for what was not logged at once
     * @param period minimum time between two lines of a limit or method
     */
    Rejections(TaskTimer timer, Duration period) {
        this.timer = timer;
        this.period = period.toNanos();
    }

    /** Throws nothing, because the rejected call is not complete yet. */
    void add(LimitExceededException rejection) {
        Lines<Reason> lines = rejection.reason() == Reason.CLIENT_GONE ? abandoned : limits;
        lines.add(rejection.limit(), rejection, rejection.reason());
    }

    /** Throws nothing, because the call is not complete yet. */
    void add(CallTimeoutException timeout) {
        methods.add(timeout.task(), timeout, timeout.kind());
    }

    /** Number of calls that a limit rejected until now. */
    long total(String limit) {
        return limits.total(limit) + abandoned.total(limit);
    }

    /** Logs what was not logged, as the engine has stopped. */
    void conclude() {
        limits.conclude();
        abandoned.conclude();
        methods.conclude();
    }

    /** Failures of one kind, by the name of their limit or method. */
    private final class Lines<K extends Enum<K>> {

        private final Map<String, Count<K>> counts = new ConcurrentHashMap<>(); // those that had failures
        private final String what;
        private final Level level;

        private Lines(String what, Level level) {
            this.what = what;
            this.level = level;
        }

        private void add(String name, Throwable failure, K kind) {
            try {
                Count<K> known = counts.get(name);
                if (known == null) {
                    known = counts.computeIfAbsent(name, made -> new Count<>(what.formatted(made), level));
                }
                known.add(failure, kind);
            } catch (Throwable shortage) {
                // the line of the next one counts this one too
            }
        }

        private long total(String name) {
            Count<K> count = counts.get(name);
            return count == null ? 0 : count.total.sum();
        }

        private void conclude() {
            counts.values().forEach(Count::conclude);
        }
    }

    /** The rejections of one limit, or the timeouts of one method. */
    private final class Count<K extends Enum<K>> {

        private final String what;
        private final Level level;
        private final LongAdder total = new LongAdder();
        private final Map<K, AtomicLong> unlogged = new ConcurrentSkipListMap<>();
        private final AtomicLong loggedAt =
                new AtomicLong(System.nanoTime() - period); // so that the first is logged at once
        private volatile long since = System.nanoTime(); // the time of the first that is not logged, or earlier
        private final AtomicBoolean scheduled = new AtomicBoolean();
        private volatile @Nullable Throwable last;

        private Count(String what, Level level) {
            this.what = what;
            this.level = level;
        }

        private void add(Throwable failure, K kind) {
            total.increment();
            last = failure;
            unlogged.computeIfAbsent(kind, first -> new AtomicLong()).incrementAndGet();
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
            } catch (Throwable shortage) {
                scheduled.set(false); // the next rejection or the stop tries again
            }
        }

        private void wake() {
            scheduled.set(false); // before the numbers are read: a later rejection schedules again
            if (unlogged.values().stream().anyMatch(number -> number.get() > 0)) {
                logOrSchedule();
            }
        }

        /** Writes one line for all failures that were not logged, if there are any. */
        private void log() {
            long before = since;
            since = System.nanoTime();
            long number = 0;
            List<String> kinds = new ArrayList<>();
            for (Map.Entry<K, AtomicLong> kind : unlogged.entrySet()) {
                long ofKind = kind.getValue().getAndSet(0);
                number += ofKind;
                if (ofKind > 0) {
                    kinds.add(String.format(Locale.ROOT, "%,d %s", ofKind, kind.getKey()));
                }
            }
            if (number == 0) {
                return;
            }
            String calls = calls(number, System.nanoTime() - before, kinds);
            Throwable failure = Objects.requireNonNull(last); // written before it was counted
            SafeLog.write(() -> logger.atLevel(level).log("{} {} {}", what, calls, failure.getMessage()));
        }

        private static String calls(long number, long nanos, List<String> kinds) {
            if (number == 1) {
                return "a call:";
            }
            return String.format(
                    Locale.ROOT,
                    "%,d calls within %d s (%s); the last one:",
                    number,
                    Duration.ofNanos(nanos).toSeconds() + 1,
                    String.join(", ", kinds));
        }

        private void conclude() {
            log();
            loggedAt.set(System.nanoTime() - period); // the next one is logged at once
        }
    }
}
