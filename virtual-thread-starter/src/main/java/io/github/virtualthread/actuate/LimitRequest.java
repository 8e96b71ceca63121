package io.github.virtualthread.actuate;

import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.PropertyKeys;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * A requested change of a limit.
 *
 * @param permits number of permits, null to keep it
 * @param queueCapacity capacity of the queue, null to keep it
 * @param maxWait maximum wait, zero for none, null to keep it
 * @param permitsPerKey number of permits for one key, null to keep it
 * @param queueCapacityPerKey number of waiting calls of one key, null to keep it
 * @param clusterPermits number of permits in all replicas together, null to keep it
 */
record LimitRequest(
        @Nullable Integer permits,
        @Nullable Integer queueCapacity,
        @Nullable Duration maxWait,
        @Nullable Integer permitsPerKey,
        @Nullable Integer queueCapacityPerKey,
        @Nullable Integer clusterPermits) {

    /**
     * Reads the parameters of a request.
     *
     * @throws IllegalArgumentException if all are null, or one is not a valid number or duration
     */
    static LimitRequest of(
            @Nullable String permits,
            @Nullable String queueCapacity,
            @Nullable String maxWait,
            @Nullable String permitsPerKey,
            @Nullable String queueCapacityPerKey,
            @Nullable String clusterPermits) {
        if (Stream.of(permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey, clusterPermits)
                .allMatch(Objects::isNull)) {
            throw new IllegalArgumentException(
                    "Nothing to change: send permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey or"
                            + " clusterPermits, as in {\"permits\": 20}");
        }
        return new LimitRequest(
                permits == null ? null : whole("permits", permits, 1, Integer.MAX_VALUE),
                bound("queueCapacity", queueCapacity, 0, "lets any number of calls wait"),
                maxWait == null ? null : wait(maxWait.strip()),
                bound("permitsPerKey", permitsPerKey, 1, "lets one key have all permits"),
                bound("queueCapacityPerKey", queueCapacityPerKey, 0, "lets any number of calls of one key wait"),
                clusterPermits == null ? null : whole("clusterPermits", clusterPermits, 1, Integer.MAX_VALUE));
    }

    private static @Nullable Integer bound(String name, @Nullable String text, int least, String unbounded) {
        if (text == null) {
            return null;
        }
        if (text.strip().equalsIgnoreCase("unbounded")) {
            return LimitSettings.UNBOUNDED;
        }
        try {
            return whole(name, text.strip(), least, Integer.MAX_VALUE);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("%s; \"unbounded\" %s".formatted(wrong.getMessage(), unbounded), wrong);
        }
    }

    private static Duration wait(String text) {
        if (text.equalsIgnoreCase("none")) {
            return Duration.ZERO;
        }
        try {
            Duration wait = DurationStyle.detectAndParse(text);
            if (wait.isPositive() && Durations.hasUnit(text)) {
                return wait;
            }
        } catch (RuntimeException unreadable) {
            // the same message as for a duration that is too short, or has no unit
        }
        throw new IllegalArgumentException(("maxWait must be a duration longer than zero with a unit, such as 2s or"
                        + " 500ms, was '%s'; \"none\" removes the maximum wait")
                .formatted(text));
    }

    LimitSettings applyTo(LimitSettings now) {
        LimitSettings shared = shared(now); // permits may exceed the old number
        Duration wait = maxWait == null ? now.maxWait() : maxWait;
        return shared.withPermits(permits == null ? shared.permits() : permits)
                .withQueueCapacity(queueCapacity == null ? now.queueCapacity() : queueCapacity)
                .withMaxWait(Duration.ZERO.equals(wait) ? null : wait)
                .withPermitsPerKey(permitsPerKey == null ? now.permitsPerKey() : permitsPerKey)
                .withQueueCapacityPerKey(queueCapacityPerKey == null ? now.queueCapacityPerKey() : queueCapacityPerKey);
    }

    private LimitSettings shared(LimitSettings now) {
        if (clusterPermits == null) {
            return now;
        }
        if (now.clusterPermits() == null) {
            throw new IllegalArgumentException(
                    "Limit '%s' is one of this JVM alone, so clusterPermits cannot be changed: to share it, set %s.cluster-permits, and restart all replicas"
                            .formatted(now.name(), PropertyKeys.limit(now.name())));
        }
        return now.withClusterPermits(clusterPermits);
    }

    /**
     * Reads a whole number in a range.
     *
     * @throws IllegalArgumentException if the text is anything else; the message names the parameter and the range
     */
    static int whole(String name, String text, int least, int most) {
        return (int) whole(name, text, least, (long) most);
    }

    static long whole(String name, String text, long least, long most) {
        try {
            long number = Long.parseLong(text.strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException none) {
            // the same message as for a number out of range
        }
        throw new IllegalArgumentException(
                "%s must be a whole number from %d to %d, was '%s'".formatted(name, least, most, text));
    }
}
