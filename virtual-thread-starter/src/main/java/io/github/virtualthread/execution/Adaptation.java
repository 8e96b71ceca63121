package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes the permits of limits that adapt them, as calls end. */
@Internal
public final class Adaptation implements TaskListener {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private static final int ROUNDS_BEFORE_WARNING = 10; // at the least permits

    private final TaskLimits limits;
    private final Map<TaskLimit, Rounds> rounds = new ConcurrentHashMap<>();

    /**
     * Creates a listener.
     *
     * @param limits all limits
     */
    public Adaptation(TaskLimits limits) {
        this.limits = limits;
    }

    @Override
    public boolean hears(TaskSpec spec) {
        TaskLimit limit = spec.limit();
        while (limit != null && limit.settings().adapt() == null) {
            limit = limit.within();
        }
        return limit != null;
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        if (call.isStarted()) {
            for (TaskLimit each = call.spec().limit(); each != null; each = each.within()) {
                Adapt adapt = each.settings().adapt();
                // what runs under a permit of another call is a part of that one
                if (adapt != null && ((Call) call).tookPermitOf(each)) {
                    ended(each, adapt, call.ran().toNanos(), outcome == Outcome.TIMEOUT);
                }
            }
        }
    }

    private void ended(TaskLimit limit, Adapt adapt, long ran, boolean stopped) {
        long now = System.nanoTime();
        int permits = limit.permits();
        Rounds.Result round = rounds.computeIfAbsent(limit, first -> new Rounds(now - ran))
                .ended(permits, adapt, new Rounds.Run(now - ran, now, stopped), limit.inUse());
        if (round == null) {
            return;
        }
        if (round.permits() != permits) { // unless somebody has changed it meanwhile
            limits.adjust(limit, present -> present == permits ? round.permits() : present);
        }
        if (round.atLeast() == ROUNDS_BEFORE_WARNING) {
            logger.warn(
                    "Limit '{}' stays at its least of {} permits: {} of its last {} runs took longer than {}, and {} of these were"
                            + " stopped by their timeout or deadline. Its partner is slow, or run-time is shorter than an idle partner"
                            + " needs.",
                    limit.name(),
                    adapt.least(),
                    round.slow(),
                    round.ends(),
                    Durations.text(adapt.runTime()),
                    round.stopped());
        }
    }
}
