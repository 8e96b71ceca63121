package io.github.virtualthread.actuate;

import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.PropertyKeys;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * A requested change of a limit.
 *
 * @param texts what can be changed, with the texts that were sent; null keeps what the limit has
 */
record LimitRequest(Map<LimitNumber, @Nullable String> texts) {

    /**
     * Returns the settings of a limit with what is to change.
     *
     * @throws IllegalArgumentException if nothing is to change, or a value is not a valid number or duration
     */
    LimitSettings applyTo(LimitSettings now) {
        Map<LimitNumber, @Nullable Object> changes = new EnumMap<>(LimitNumber.class);
        texts.forEach((number, text) -> {
            if (text != null) {
                changes.put(number, read(number, text));
            }
        });
        if (changes.isEmpty()) {
            throw new IllegalArgumentException(
                    "Nothing to change: send %s, as in {\"permits\": 20}".formatted(names()));
        }
        if (changes.containsKey(LimitNumber.CLUSTER_PERMITS) && now.clusterPermits() == null) {
            throw new IllegalArgumentException(
                    "Limit '%s' is one of this JVM alone, so clusterPermits cannot be changed: to share it, set %s.cluster-permits, and restart all replicas"
                            .formatted(now.name(), PropertyKeys.limit(now.name())));
        }
        return LimitNumber.changed(now, changes);
    }

    /** As in {@code permits, queueCapacity or maxWait}. */
    private String names() {
        List<String> names = texts.keySet().stream().map(LimitNumber::parameter).toList();
        int last = names.size() - 1;
        return String.join(", ", names.subList(0, last)) + " or " + names.get(last);
    }

    /** Null for no maximum wait. */
    private static @Nullable Object read(LimitNumber number, String text) {
        return switch (number.kind()) {
            case NUMBER -> whole(number.parameter(), text, number.least(), Integer.MAX_VALUE);
            case BOUND -> bound(number, text);
            case TIME -> time(number, text.strip());
            case FLAG -> flag(number, text.strip());
            case OTHER -> throw new IllegalArgumentException(number.parameter() + " cannot be changed");
        };
    }

    private static int bound(LimitNumber number, String text) {
        if (text.strip().equalsIgnoreCase("unbounded")) {
            return LimitSettings.UNBOUNDED;
        }
        try {
            return whole(number.parameter(), text, number.least(), Integer.MAX_VALUE);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("%s; %s".formatted(wrong.getMessage(), number.withoutMaximum()), wrong);
        }
    }

    private static @Nullable Duration time(LimitNumber number, String text) {
        if (text.equalsIgnoreCase("none")) {
            return null;
        }
        try {
            Duration time = DurationStyle.detectAndParse(text);
            if (time.isPositive() && Durations.hasUnit(text)) {
                return time;
            }
        } catch (RuntimeException unreadable) {
            // the same message as for a duration that is too short, or has no unit
        }
        throw new IllegalArgumentException(
                "%s must be a duration longer than zero with a unit, such as 2s or 500ms, was '%s'; %s"
                        .formatted(number.parameter(), text, number.withoutMaximum()));
    }

    private static boolean flag(LimitNumber number, String text) {
        if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
            throw new IllegalArgumentException(
                    "%s must be true or false, was '%s'".formatted(number.parameter(), text));
        }
        return Boolean.parseBoolean(text);
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
