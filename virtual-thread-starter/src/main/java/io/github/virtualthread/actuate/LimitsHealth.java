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

    /**
     * The limits at one moment.
     *
     * @param saturated whether one of them has been full for too long
     * @param details by name of limit, such as {@code full for 41 s: 0 of 20 permits free, 3412 waiting}, of those that have been
     *     full for too long, and of those that the application keeps occupied
     */
    record State(boolean saturated, Map<String, String> details) {}

    State look() {
        boolean saturated = false;
        Map<String, String> details = new TreeMap<>();
        for (TaskLimit limit : limits.all()) {
            Duration full = limit.saturated();
            String whyFull = limit.whyFull();
            String permits = "%d of %d permits free, %d waiting%s"
                    .formatted(
                            limit.available(), limit.permits(), limit.waiting(), whyFull == null ? "" : ", " + whyFull);
            if (full.compareTo(saturatedAfter) >= 0) {
                saturated = true;
                details.put(limit.name(), "full for %d s: %s".formatted(full.toSeconds(), permits));
            } else if (limit.isOccupied()) {
                details.put(limit.name(), permits);
            }
        }
        return new State(saturated, details);
    }
}
