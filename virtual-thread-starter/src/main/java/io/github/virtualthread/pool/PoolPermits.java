package io.github.virtualthread.pool;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Sets the permits of limits that take them from a pool: once all singletons exist, and again whenever a pool has been
 * resized. The size of each pool is read every five seconds while the application runs.
 *
 * <p>A limit changes only if its pool has changed, so that a limit resized by hand stays so until then.
 */
@Internal
public final class PoolPermits {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final TaskLimits limits;
    private final PoolReader reader;
    private final TaskTimer timer;
    private final Duration interval;
    private final ScopedLock reading = new ScopedLock();
    private final Map<String, Integer> lastRead = new HashMap<>(); // by uniform name; guarded by reading
    private final Map<String, String> failing = new HashMap<>(); // messages by name of the limit; guarded by reading
    private volatile boolean running;
    private volatile @Nullable Future<?> next;

    /**
     * Creates a reader of pools, which reads nothing before {@link #read} or {@link #start}.
     *
     * @param limits limits of the application
     * @param beans has the pools
     * @param sizes return the size of a pool that is not a {@link io.github.virtualthread.limit.PermitsSource}
     * @param timer schedules the reading of the pools
     */
    public PoolPermits(TaskLimits limits, ListableBeanFactory beans, ObjectProvider<PoolSizes> sizes, TaskTimer timer) {
        this(limits, new PoolReader(beans, sizes), timer, INTERVAL);
    }

    PoolPermits(TaskLimits limits, PoolReader reader, TaskTimer timer, Duration interval) {
        this.limits = limits;
        this.reader = reader;
        this.timer = timer;
        this.interval = interval;
    }

    /**
     * The limit whose permits come from a pool: this one, or the nearest around it.
     *
     * @param limit any limit, null for none
     * @return null if there is none
     */
    public static @Nullable TaskLimit drawing(@Nullable TaskLimit limit) {
        TaskLimit drawing = limit;
        while (drawing != null && drawing.permitsFrom() == null) {
            drawing = drawing.within();
        }
        return drawing;
    }

    /**
     * Reads all pools and sets the permits of their limits.
     *
     * @return what is wrong; the limits concerned are unchanged
     */
    public List<Mistake> read() {
        List<Mistake> mistakes = new ArrayList<>();
        try (ScopedLock held = reading.hold()) {
            drawing().forEach((limit, from) -> {
                try {
                    apply(limit, reader.permits(limit.name(), from));
                    failing.remove(limit.name());
                } catch (VirtualThreadConfigurationException failure) {
                    mistakes.addAll(failure.mistakes());
                    report(limit, failure);
                }
            });
        } finally {
            followIfNeeded();
        }
        return mistakes;
    }

    /**
     * Returns settings with the current number of permits of the pool.
     *
     * @param settings settings of a limit
     * @return a changed copy; the same settings if the permits do not come from a pool
     * @throws VirtualThreadConfigurationException if the pool cannot be read
     */
    public LimitSettings resolve(LimitSettings settings) {
        PermitsFrom from = settings.permitsFrom();
        return from == null ? settings : settings.withPermits(reader.permits(settings.name(), from));
    }

    private void apply(TaskLimit limit, int permits) {
        Integer before = lastRead.put(LimitNames.uniform(limit.name()), permits);
        if (before == null) {
            limits.adjust(limit, now -> permits);
        } else if (before != permits) {
            limits.change(limit, now -> now.withPermits(permits), Source.POOL);
        }
    }

    /** During the start the report of mistakes has it; afterwards it is logged once. */
    private void report(TaskLimit limit, VirtualThreadConfigurationException failure) {
        String message = String.valueOf(failure.getMessage());
        if ((running || failure.getCause() != null) && !message.equals(failing.put(limit.name(), message))) {
            logger.warn("{} The limit is unchanged: {}", message, limit, failure.getCause());
        }
    }

    /** Warns, for each pool, if the limits that draw on it allow more concurrent calls than it has connections. */
    public void warnOfOverdraft() {
        IdentityHashMap<Object, List<TaskLimit>> pools = new IdentityHashMap<>();
        drawing().forEach((limit, from) -> {
            if (limit.within() == null) { // calls of the others need a permit of the outermost, too
                Object pool = reader.bean(limit.name(), from.bean());
                pools.computeIfAbsent(pool, first -> new ArrayList<>()).add(limit);
            }
        });
        pools.values().forEach(this::warnOfOverdraft);
    }

    private void warnOfOverdraft(List<TaskLimit> drawing) {
        PermitsFrom from = drawing.getFirst().permitsFrom();
        int sum = drawing.stream().mapToInt(TaskLimit::permits).sum();
        int size = from == null ? sum : reader.size(drawing.getFirst().name(), from);
        if (from != null && sum > size) {
            logger.warn(
                    "Limits {} together allow {} concurrent calls, but the pool of bean '{}' has {} connections: up to {}"
                            + " calls will wait in the pool until its own timeout. Let the methods share one limit, or give"
                            + " each limit a headroom.",
                    drawing.stream()
                            .map(limit -> "%s (%d)".formatted(limit.name(), limit.permits()))
                            .collect(Collectors.joining(" and ")),
                    sum,
                    from.bean(),
                    size,
                    sum - size);
        }
    }

    private Map<TaskLimit, PermitsFrom> drawing() {
        Map<TaskLimit, PermitsFrom> drawing = new LinkedHashMap<>();
        for (TaskLimit limit : limits.all()) {
            PermitsFrom from = limit.permitsFrom();
            if (from != null) {
                drawing.put(limit, from);
            }
        }
        return drawing;
    }

    /** Starts to follow the pools, if any limit draws on one. */
    public void start() {
        running = true;
        followIfNeeded();
    }

    /** A limit may start to draw on a pool long after the start. */
    private void followIfNeeded() {
        try (ScopedLock held = reading.hold()) {
            if (running && next == null && !drawing().isEmpty()) {
                next = timer.schedule(() -> Thread.ofVirtual().start(this::follow), interval.toNanos());
            }
        }
    }

    /** Not on the timer's thread, because a pool may block. */
    private void follow() {
        try (ScopedLock held = reading.hold()) { // the thread that scheduled this may not have stored the future yet
            next = null;
            if (running) {
                List<Mistake> unused = read(); // logged already
            }
        } catch (RuntimeException failure) {
            logger.warn("The pools that limits take their permits from cannot be read", failure);
        }
    }

    /** Stops following the pools, until the next start. */
    public void stop() {
        running = false;
        Future<?> scheduled = next;
        if (scheduled != null) {
            scheduled.cancel(false);
            next = null;
        }
    }
}
