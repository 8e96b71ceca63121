package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks every second whether limits are full and whether calls are stuck, and logs it.
 *
 * <p>One platform thread checks all limits and all calls. If bodies keep all carriers busy, which is when a warning is needed, no
 * virtual thread would run.
 */
@Internal
public final class CallWatch {

    private static final Logger logger = LoggerFactory.getLogger(CallWatch.class);

    private static final Duration TICK = Duration.ofSeconds(1);

    private final TaskEngine engine;
    private final TaskLimits limits;
    private final Duration saturated;
    private final @Nullable Duration stuck;
    private final String threadName;
    private final Duration tick;
    private final ScopedLock looking = new ScopedLock();
    private final Map<TaskLimit, Saturation> saturations = new HashMap<>(); // guarded by looking
    private final StuckCalls stuckCalls = new StuckCalls(); // guarded by looking
    private Set<TaskCall> reported = Set.of(); // stuck calls that still run; guarded by looking
    private final ScopedLock starting = new ScopedLock();
    private boolean running; // guarded by starting
    private volatile @Nullable Thread thread; // set under starting

    /**
     * Creates a watch, which checks nothing before its start.
     *
     * @param engine runs the calls
     * @param limits limits to check
     * @param saturated how long a limit must be full before the log warns; zero for never
     * @param stuck how long a body must run before the log warns; null for never
     * @param threadNamePrefix prefix of the name of its thread
     */
    public CallWatch(
            TaskEngine engine,
            TaskLimits limits,
            Duration saturated,
            @Nullable Duration stuck,
            String threadNamePrefix) {
        this(engine, limits, saturated, stuck, threadNamePrefix, TICK);
    }

    CallWatch(
            TaskEngine engine,
            TaskLimits limits,
            Duration saturated,
            @Nullable Duration stuck,
            String threadNamePrefix,
            Duration tick) {
        this.engine = engine;
        this.limits = limits;
        this.saturated = saturated;
        this.stuck = stuck;
        this.threadName = threadNamePrefix + "watch";
        this.tick = tick;
    }

    /** Starts to check, at the latest with the first call that a warning could be about. Does not block. */
    public void start() {
        try (ScopedLock held = starting.hold()) {
            running = true;
        }
        boolean isOn = saturated.isPositive() || stuck != null;
        if (isOn) {
            engine.watched(this::startThread);
        }
        if (isOn && (stuck != null || !limits.all().isEmpty())) {
            startThread();
        }
    }

    private void startThread() {
        if (thread != null) {
            return; // calls by hand come here, each of them
        }
        try (ScopedLock held = starting.hold()) {
            if (thread == null && running) {
                Thread made = TaskTimer.daemon().name(threadName).unstarted(this::run);
                thread = made;
                try {
                    made.start();
                } catch (Throwable shortage) {
                    thread = null;
                    throw shortage;
                }
            }
        }
    }

    /** Only a stop ends this loop, and no failure: nobody would notice that the watch had ended. */
    private void run() {
        Thread current = Thread.currentThread();
        while (current.equals(thread)) {
            Thread.interrupted(); // or it would not park
            LockSupport.parkNanos(this, tick.toNanos());
            if (current.equals(thread)) {
                lookSafely();
            }
        }
    }

    private void lookSafely() {
        try {
            engine.parts().threads().adopt(); // for the listeners
            look();
        } catch (Throwable failure) {
            try {
                logger.error(
                        "Limits and calls could not be checked",
                        failure); // not SafeLog, which makes an object: see HandOffs
            } catch (Throwable noLog) {
                // the next check may find more memory, or a log that works
            }
        }
    }

    /** Stops to check until the next start. Does not block. */
    public void stop() {
        try (ScopedLock held = starting.hold()) {
            running = false;
            Thread stopped = thread;
            thread = null;
            LockSupport.unpark(stopped);
        }
    }

    /** Checks once. */
    void look() {
        try (ScopedLock held = looking.hold()) {
            if (saturated.isPositive()) {
                limits.all().forEach(this::lookAt);
            }
            if (stuck != null) {
                lookForStuck(stuck);
            }
        }
    }

    private void lookAt(TaskLimit limit) {
        Saturation seen = saturations.computeIfAbsent(limit, each -> new Saturation());
        Duration full = limit.saturated();
        seen.sample(limit.completed(), engine.parts().rejections().total(limit.name()), full);
        Duration ended = seen.endedBy(full);
        // in a stop a limit is no longer full because new calls are not accepted and waiting calls were rejected
        if (ended != null && engine.parts().gate().isOpen()) {
            logger.info("Limit '{}' is no longer full, after {} s", limit.name(), ended.toSeconds());
        }
        if (full.compareTo(saturated) >= 0 && seen.isDue(full)) {
            logger.warn(describe(limit, full, seen));
        }
    }

    /** As in {@code Limit 'db' full for 30 s: 20 of 20 running, oldest 41 s in Prices.find; 3,412 waiting, oldest 28 s; ...}. */
    private String describe(TaskLimit limit, Duration full, Saturation seen) {
        LiveCalls calls = engine.liveCalls();
        String oldestRunning = calls.running(limit).stream()
                .findFirst()
                .map(LiveCall::call)
                .map(call -> ", oldest %d s in %s"
                        .formatted(call.ran().toSeconds(), call.spec().name()))
                .orElse("");
        String oldestWaiting = calls.waiting(limit, 1).stream()
                .findFirst()
                .map(live -> ", oldest %d s".formatted(live.call().waited().toSeconds()))
                .orElse("");
        String whyFull = limit.whyFull();
        return String.format(
                Locale.ROOT,
                "Limit '%s' full for %d s: %d of %d running%s%s%s; %,d waiting%s%s; %,d rejected since; %,d finished in the"
                        + " last minute",
                limit.name(),
                full.toSeconds(),
                limit.inUse(),
                limit.lent(),
                limit.clusterPermits() == null ? "" : " (%d in all replicas)".formatted(limit.clusterPermits()),
                oldestRunning,
                whyFull == null ? "" : "; " + whyFull,
                limit.waiting(),
                oldestWaiting,
                waitingWithin(limit),
                seen.rejectedSinceFull(),
                seen.completedInTheLastMinute());
    }

    /** Those that need a permit of this limit, and wait in the queue of another one. */
    private String waitingWithin(TaskLimit limit) {
        int waiting = limits.within(limit).stream().mapToInt(TaskLimit::waiting).sum();
        return waiting == 0 ? "" : String.format(Locale.ROOT, ", %,d more under limits within it", waiting);
    }

    private void lookForStuck(Duration after) {
        List<LiveCall> old = engine.liveCalls()
                .threads()
                .filter(live -> live.call().ran().compareTo(after) >= 0)
                .toList();
        Set<TaskCall> before = reported;
        old.stream().filter(live -> !before.contains(live.call())).forEach(this::found);
        reported = old.stream().map(LiveCall::call).collect(Collectors.toCollection(HashSet::new));
        stuckCalls.log();
    }

    private void found(LiveCall live) {
        Thread thread = live.thread();
        if (thread != null) {
            stuckCalls.add((Call) live.call(), thread);
            ((Call) live.call()).stuck();
        }
    }
}
