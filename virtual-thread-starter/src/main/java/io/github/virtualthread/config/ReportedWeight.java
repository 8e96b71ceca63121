package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The bean of an application that weighs keys. Its first weight that cannot be used is logged. */
@Internal
public final class ReportedWeight implements KeyWeight {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private final KeyWeight bean;
    private final AtomicBoolean reported = new AtomicBoolean();

    private ReportedWeight(KeyWeight bean) {
        this.bean = bean;
    }

    /**
     * Applies a customizer to a limit.
     *
     * @param customizer bean of the application
     * @param limit one of its limits
     */
    public static void customize(TaskLimitCustomizer customizer, TaskLimit limit) {
        TaskLimitCustomizer reported = customizer instanceof KeyWeight weight ? new ReportedWeight(weight) : customizer;
        reported.customize(limit);
    }

    @Override
    public double of(String limit, String key) {
        try {
            double weight = bean.of(limit, key);
            if (!(weight >= LimitSettings.LEAST_WEIGHT && weight <= LimitSettings.MOST_WEIGHT)) {
                report(limit, "was " + weight);
            }
            return weight;
        } catch (Throwable failure) {
            report(limit, "failed with " + failure);
            throw failure;
        }
    }

    /** The key may be personal data. */
    private void report(String limit, String problem) {
        if (!reported.getAndSet(true)) {
            SafeLog.write(() -> logger.warn(
                    "The weight of a key of limit '{}' by {} {}. It must be from {} to {}: the nearest is used, and 1 after a failure."
                            + " Others are not logged.",
                    limit,
                    bean.getClass().getName(),
                    problem,
                    LimitSettings.LEAST_WEIGHT,
                    LimitSettings.MOST_WEIGHT));
        }
    }
}
