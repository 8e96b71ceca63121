package io.github.virtualthread.actuate;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds limits that have been full for too long. Independent of Spring Boot's health types, which differ between its lines.
 */
final class LimitsHealth {

    private final TaskLimits limits;
    private final Duration saturatedAfter;

    /**
     * Checks all limits, including those added later.
     *
     * @param saturatedAfter how long is too long, more than zero
     */
    LimitsHealth(TaskLimits limits, Duration saturatedAfter) {
        this.limits = limits;
        this.saturatedAfter = saturatedAfter;
    }

    /** Details by name of limit, such as {@code full for 41 s: 0 of 20 permits free, 3412 waiting}; empty if all is well. */
    Map<String, String> saturated() {
        Map<String, String> saturated = new TreeMap<>();
        for (TaskLimit limit : limits.all()) {
            Duration full = limit.saturated();
            if (full.compareTo(saturatedAfter) >= 0) {
                saturated.put(
                        limit.name(),
                        "full for %d s: %d of %d permits free, %d waiting"
                                .formatted(full.toSeconds(), limit.available(), limit.permits(), limit.waiting()));
            }
        }
        return saturated;
    }
}
