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
 * A requested change of a limit, as it was sent; null keeps what the limit has.
 *
 * @param permits number of permits
 * @param queueCapacity capacity of the queue, or unbounded
 * @param maxWait maximum wait, or none
 * @param permitsPerKey number of permits for one key, or unbounded
 * @param queueCapacityPerKey number of waiting calls of one key, or unbounded
 * @param clusterPermits number of permits in all replicas together
 * @param dryRun whether the limit only watches
 */
record LimitRequest(
        @Nullable String permits,
        @Nullable String queueCapacity,
        @Nullable String maxWait,
        @Nullable String permitsPerKey,
        @Nullable String queueCapacityPerKey,
        @Nullable String clusterPermits,
        @Nullable String dryRun) {

    /**
     * Returns the settings of a limit with what is to change.
     *
     * @throws IllegalArgumentException if nothing is to change, or a value is not a valid number or duration
     */
    LimitSettings applyTo(LimitSettings now) {
        if (Stream.of(permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey, clusterPermits, dryRun)
                .allMatch(Objects::isNull)) {
            throw new IllegalArgumentException(
                    "Nothing to change: send permits, queueCapacity, maxWait, permitsPerKey, queueCapacityPerKey,"
                            + " clusterPermits or dryRun, as in {\"permits\": 20}");
        }
        // first, as permits may exceed the old number; and a dry run goes with fewer settings
        LimitSettings shared = shared(now.withDryRun(false));
        return shared.withPermits(number("permits", permits, shared.permits(), 1))
                .withQueueCapacity(
                        bound("queueCapacity", queueCapacity, now.queueCapacity(), 0, "lets any number of calls wait"))
                .withMaxWait(maxWait == null ? now.maxWait() : wait(maxWait.strip()))
                .withPermitsPerKey(
                        bound("permitsPerKey", permitsPerKey, now.permitsPerKey(), 1, "lets one key have all permits"))
                .withQueueCapacityPerKey(bound(
                        "queueCapacityPerKey",
                        queueCapacityPerKey,
                        now.queueCapacityPerKey(),
                        0,
                        "lets any number of calls of one key wait"))
                .withDryRun(dryRun == null ? now.dryRun() : flag("dryRun", dryRun.strip()));
    }

    private static boolean flag(String name, String text) {
        if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
            throw new IllegalArgumentException("%s must be true or false, was '%s'".formatted(name, text));
        }
        return Boolean.parseBoolean(text);
    }

    private static int number(String name, @Nullable String text, int now, int least) {
        return text == null ? now : whole(name, text, least, Integer.MAX_VALUE);
    }

    private static int bound(String name, @Nullable String text, int now, int least, String unbounded) {
        if (text != null && text.strip().equalsIgnoreCase("unbounded")) {
            return LimitSettings.UNBOUNDED;
        }
        try {
            return number(name, text, now, least);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("%s; \"unbounded\" %s".formatted(wrong.getMessage(), unbounded), wrong);
        }
    }

    /** Null for none. */
    private static @Nullable Duration wait(String text) {
        if (text.equalsIgnoreCase("none")) {
            return null;
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

    private LimitSettings shared(LimitSettings now) {
        if (clusterPermits == null) {
            return now;
        }
        if (now.clusterPermits() == null) {
            throw new IllegalArgumentException(
                    "Limit '%s' is one of this JVM alone, so clusterPermits cannot be changed: to share it, set %s.cluster-permits, and restart all replicas"
                            .formatted(now.name(), PropertyKeys.limit(now.name())));
        }
        return now.withClusterPermits(whole("clusterPermits", clusterPermits, 1, Integer.MAX_VALUE));
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
