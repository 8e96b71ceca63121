package io.github.virtualthread.actuate;

import io.github.virtualthread.limit.Numbers;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Finds limits that have been full for too long. Independent of Spring Boot's health types, which differ between its lines.
 *
 * @param limits all limits, including those added later
 * @param saturatedAfter how long is too long, more than zero
 */
record LimitsHealth(TaskLimits limits, Duration saturatedAfter) {

    /**
     * Looks at the limits.
     *
     * @param details gets, with the name of the limit, text such as {@code full for 41 s: 0 of 20 permits free, 3412 waiting}, of those
     *     that have been full for too long, of those that the application keeps occupied, and of those that nobody lends permits, such
     *     as {@code alone for 12 s: 7 of 20 permits}
     * @return whether one of them has been full for too long
     */
    boolean isSaturated(BiConsumer<String, String> details) {
        boolean saturated = false;
        for (TaskLimit limit : limits.all()) {
            Duration full = limit.saturated();
            String whyFull = limit.whyFull();
            String permits = "%d of %s free, %d waiting%s"
                    .formatted(
                            limit.available(),
                            Numbers.of(limit.lent(), "permit"),
                            limit.waiting(),
                            whyFull == null ? "" : ", " + whyFull);
            List<String> detail = new ArrayList<>();
            ClusterState cluster = limit.cluster();
            if (cluster != null && isNotLent(cluster)) {
                detail.add("%s for %d s: %d of %s"
                        .formatted(
                                cluster.lending() == Lending.ALONE ? "alone" : "no permits lent",
                                cluster.since().toSeconds(),
                                limit.lent(),
                                Numbers.of(cluster.permits(), "permit")));
            }
            if (full.compareTo(saturatedAfter) >= 0) {
                saturated = true;
                detail.add("full for %d s: %s".formatted(full.toSeconds(), permits));
            } else if (limit.isOccupied()) {
                detail.add(permits);
            }
            if (!detail.isEmpty()) {
                details.accept(limit.name(), String.join("; ", detail));
            }
        }
        return saturated;
    }

    /** Not within the first second: at the start, and after a pause, the engine is asked first. */
    private static boolean isNotLent(ClusterState cluster) {
        return cluster.lending() != Lending.LENT && cluster.since().toSeconds() >= 1;
    }
}
