package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Whether there is a health of the limits: if it is asked for, or if a limit is shared, whose lease may be over. */
final class HealthSwitch {

    private static final String KEY = "virtual-thread.health.saturated-after";

    private HealthSwitch() {}

    /**
     * How long a limit may be full. A blank value counts as not set.
     *
     * @return null if there is no health; a time that never passes if only leases count
     */
    static @Nullable Duration saturatedAfter(
            TaskLimits limits, Environment environment, ObjectProvider<VirtualThreadProperties> properties) {
        if (StringUtils.hasText(environment.getProperty(KEY))) {
            return properties.getObject().health().saturatedAfter();
        }
        boolean shared =
                limits.all().stream().anyMatch(limit -> limit.settings().isShared());
        return shared ? ChronoUnit.FOREVER.getDuration() : null;
    }
}
