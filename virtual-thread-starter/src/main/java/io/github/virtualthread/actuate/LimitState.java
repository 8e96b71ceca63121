package io.github.virtualthread.actuate;

import io.github.virtualthread.limit.PermitsFrom;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A limit at one moment. Counts are those since the start of the application.
 *
 * @param name its name
 * @param permits most calls that run at once
 * @param inUse permits that are held; more than {@code permits} after these were reduced, until calls end
 * @param available permits that nobody holds
 * @param waiting calls that wait
 * @param queueCapacity most calls that may wait, null for any number
 * @param maxWaitSeconds longest wait, null for any time
 * @param nested {@code WARN} or {@code FAIL}: what happens to calls made by a body that holds the same limit
 * @param permitsFrom the pool that the permits are taken from, null for a number of one's own
 * @param saturatedForSeconds how long it has been full, without a break; 0 if it is not
 * @param oldestRunningSeconds how long the oldest running body has run, null if none runs
 * @param oldestWaitingSeconds how long the first in the queue has waited, null if none waits
 * @param abandoned permits held by bodies whose call has ended already, by cancel or timeout
 * @param rejected how many calls were rejected, by reason
 */
public record LimitState(
        String name,
        int permits,
        int inUse,
        int available,
        int waiting,
        @Nullable Integer queueCapacity,
        @Nullable Double maxWaitSeconds,
        String nested,
        @Nullable PermitsFrom permitsFrom,
        double saturatedForSeconds,
        @Nullable Double oldestRunningSeconds,
        @Nullable Double oldestWaitingSeconds,
        int abandoned,
        Map<String, Long> rejected)
        implements OperationResponseBody {}
