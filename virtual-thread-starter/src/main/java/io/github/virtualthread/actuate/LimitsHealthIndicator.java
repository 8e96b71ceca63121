package io.github.virtualthread.actuate;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/** Reports the application as out of service while a limit has been full for too long. For Spring Boot 4. */
@Internal
public final class LimitsHealthIndicator extends AbstractHealthIndicator {

    private final LimitsHealth limits;

    /**
     * Creates an indicator for all limits.
     *
     * @param limits limits of the application
     * @param saturatedAfter how long a limit may be full, more than zero
     */
    public LimitsHealthIndicator(TaskLimits limits, Duration saturatedAfter) {
        super("The health of the limits could not be determined");
        this.limits = new LimitsHealth(limits, saturatedAfter);
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.status(limits.isSaturated(builder::withDetail) ? Status.OUT_OF_SERVICE : Status.UP);
    }
}
