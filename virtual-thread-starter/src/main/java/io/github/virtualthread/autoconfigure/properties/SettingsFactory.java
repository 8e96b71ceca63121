package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.properties.BlankCountsAsNotSet.text;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.MethodSettings;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Adapt;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Limit;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Web;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.web.RejectionAnswer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.StringUtils;

/** Turns the properties into settings, and whatever is wrong in them into mistakes: all of them, not only the first. */
@Internal
public final class SettingsFactory {

    private final VirtualThreadProperties properties;
    private final Iterable<PropertySource<?>> sources;
    private final List<Mistake> mistakes = new ArrayList<>();

    private SettingsFactory(VirtualThreadProperties properties, Iterable<PropertySource<?>> sources) {
        this.properties = properties;
        this.sources = sources;
    }

    /**
     * Settings of an application.
     *
     * @param sources what the properties come from, to show the place of a mistake
     */
    static EngineSettings create(VirtualThreadProperties properties, Iterable<PropertySource<?>> sources) {
        return new SettingsFactory(properties, sources).settings(null);
    }

    /**
     * Settings of an application that shares no limit with other replicas.
     *
     * @param properties of the application
     * @param sources what the properties come from, to show the place of a mistake
     * @param change applied to each limit
     * @return settings of the engine
     */
    public static EngineSettings ofThisJvm(
            VirtualThreadProperties properties,
            Iterable<PropertySource<?>> sources,
            UnaryOperator<LimitSettings> change) {
        return new SettingsFactory(properties, sources).settings(limit -> change.apply(limit.withClusterPermits(null)));
    }

    /**
     * Returns the answer to a rejection. Needs Spring's web classes on the classpath. Wrong values, which fail the start anyway, leave
     * rejections unanswered.
     *
     * @param web properties of web requests
     * @return status and header
     */
    public static RejectionAnswer rejectionAnswer(Web web) {
        return new RejectionAnswer(status(web.rejectedStatus()), web.retryAfter());
    }

    /**
     * Returns the answer to a rejection, and those to calls that have timed out or were cancelled.
     *
     * @param web properties of web requests
     * @return one answer for each kind of failure
     */
    public static List<RejectionAnswer> answers(Web web) {
        int timedOut = status(web.timedOutStatus());
        return List.of(
                rejectionAnswer(web),
                new RejectionAnswer(CallTimeoutException.class, timedOut, Duration.ZERO),
                new RejectionAnswer(CallCancelledException.class, timedOut, Duration.ZERO));
    }

    /**
     * How long a limit may be full. A blank value counts as not set.
     *
     * @param environment of the application
     * @param beans of the application
     * @return null if there is no health: none is asked for, and no limit is shared, whose lease may be over; a time that never passes
     *     if only leases count
     */
    public static @Nullable Duration saturatedAfter(Environment environment, BeanFactory beans) {
        if (StringUtils.hasText(environment.getProperty("virtual-thread.health.saturated-after"))) {
            return beans.getBean(VirtualThreadProperties.class).health().saturatedAfter();
        }
        EngineSettings given = beans.getBean(BeanNames.SETTINGS, EngineSettings.class);
        boolean shared = Stream.concat(given.limits().stream(), beans.getBeanProvider(LimitSettings.class).stream())
                .map(given::sharedOrNot)
                .anyMatch(LimitSettings::isShared);
        return shared ? ChronoUnit.FOREVER.getDuration() : null;
    }

    private EngineSettings settings(@Nullable UnaryOperator<LimitSettings> alone) {
        positive("virtual-thread.health.saturated-after", properties.health().saturatedAfter());
        notNegative("virtual-thread.pinning.threshold", properties.pinning().threshold());
        status("rejected", properties.web().rejectedStatus());
        status("timed-out", properties.web().timedOutStatus());
        notNegative("virtual-thread.web.retry-after", properties.web().retryAfter());
        List<LimitSettings> limits = new ArrayList<>();
        for (Map.Entry<String, Map<LimitNumber, Object>> limit :
                distinct(properties.limits()).entrySet()) {
            LimitSettings settings = limit(limit.getKey(), limit.getValue());
            if (settings != null) {
                limits.add(alone == null ? settings : alone.apply(settings));
            }
        }
        ClusterSettings cluster = ClusterSettingsFactory.create(properties.cluster(), mistakes);
        return new EngineSettings(
                new MethodSettings(
                        text(properties.defaultLimit()),
                        positive("virtual-thread.timeout", properties.timeout()),
                        overrides()),
                properties.threadNamePrefix(),
                properties.propagation().mdc(),
                properties.propagation().mdcKeys(),
                properties.propagation().context(),
                notNegative(
                        "virtual-thread.shutdown.await-termination-period",
                        properties.shutdown().awaitTerminationPeriod()),
                properties.selfInvocation(),
                properties.callerTrace(),
                notNegative(
                        "virtual-thread.saturation.warn-after",
                        properties.saturation().warnAfter()),
                positive("virtual-thread.stuck-after", properties.stuckAfter()),
                properties.enabled() && alone == null ? cluster : null,
                limits,
                mistakes);
    }

    /**
     * An environment variable cannot spell {@code price-db}, so it adds a key {@code pricedb}: both are one limit. The map
     * starts with the source of highest precedence, so an earlier value wins. The last source is the file, which has the
     * better spelling.
     */
    private static Map<String, Map<LimitNumber, Object>> distinct(Map<String, Limit> limits) {
        Map<String, Map<LimitNumber, Object>> distinct = new LinkedHashMap<>();
        Map<String, String> spellings = new HashMap<>();
        limits.forEach((name, limit) -> {
            Map<LimitNumber, Object> values = values(limit);
            String other = spellings.put(LimitNames.uniform(name), name);
            if (other != null) {
                values.putAll(distinct.remove(other));
            }
            distinct.put(name, values);
        });
        for (Map<LimitNumber, Object> values : distinct.values()) {
            values.values().removeAll(Set.of("")); // a blank text has unset what another source sets
        }
        return distinct;
    }

    /** What is set, also to a blank text. */
    private static Map<LimitNumber, Object> values(Limit limit) {
        Map<LimitNumber, Object> values = new EnumMap<>(LimitNumber.class);
        for (LimitNumber number : LimitNumber.values()) {
            Object value = limit.value(number);
            if (value != null) {
                values.put(number, value instanceof String text ? text.strip() : value);
            }
        }
        return values;
    }

    /**
     * Null if the name is not allowed. A limit with another mistake stays known, so that methods that name it are no mistake.
     */
    private @Nullable LimitSettings limit(String name, Map<LimitNumber, Object> values) {
        if (LimitNames.isNone(name)) {
            mistakes.add(
                    new Mistake(
                            "Limit '%s': the name 'none' is reserved for calls without a limit".formatted(name),
                            "Give the limit another name; or remove it, because @VirtualThread(\"none\") needs no limit of that name."));
            return null;
        }
        if (!LimitNames.isAllowed(name)) {
            mistakes.add(StrayKeys.wrong(name));
            return null;
        }
        String key = PropertyKeys.limit(name);
        Mistake mistake = permitsMistake(name, key, values);
        if (mistake == null) {
            mistake = adaptMistake(name, key, values);
        }
        LimitSettings unset = LimitSettings.of(name, 1);
        if (mistake == null) {
            try {
                values.putIfAbsent(LimitNumber.PERMITS, permits(values));
                return LimitNumber.changed(unset, values);
            } catch (IllegalArgumentException wrong) {
                mistake = new Mistake(
                        withPlaces(String.valueOf(wrong.getMessage()), key),
                        "Correct the values under %s.".formatted(key));
            }
        }
        mistakes.add(mistake);
        return unset.withWithin((String) values.get(LimitNumber.WITHIN));
    }

    /** Each value that is out of its range, with file and line. */
    private String withPlaces(String problems, String limit) {
        return Pattern.compile("(?<=[:;] )([a-z-]+) must [^;]+")
                .matcher(problems)
                .replaceAll(value -> Matcher.quoteReplacement(value.group() + place(limit + "." + value.group(1))));
    }

    private String place(String key) {
        return PropertiesBinding.place(key, sources);
    }

    /** A limit with permits from a pool has one until the pool is read; another one that is shared may use all permits. */
    private static int permits(Map<LimitNumber, Object> values) {
        boolean isOfPool = values.containsKey(LimitNumber.PERMITS_FROM);
        if (!isOfPool && values.get(LimitNumber.CLUSTER_PERMITS) instanceof Integer inAll) {
            return Math.max(1, inAll);
        }
        return 1;
    }

    /** Also puts the numbers as the settings have them. */
    private static @Nullable Mistake adaptMistake(String name, String key, Map<LimitNumber, Object> values) {
        if (!(values.get(LimitNumber.ADAPT) instanceof Adapt adapt)) {
            return null;
        }
        if (adapt.least() != null && adapt.most() != null && adapt.runTime() != null) {
            values.put(LimitNumber.ADAPT, new LimitSettings.Adapt(adapt.least(), adapt.most(), adapt.runTime()));
            return null;
        }
        List<String> missing = new ArrayList<>();
        addIfNull(adapt.least(), "least", missing);
        addIfNull(adapt.most(), "most", missing);
        addIfNull(adapt.runTime(), "run-time", missing);
        return new Mistake(
                "Limit '%s' has adapt without %s".formatted(name, String.join(" and ", missing)),
                "Set least, most and run-time under %s.adapt.".formatted(key));
    }

    private static void addIfNull(@Nullable Object value, String name, List<String> names) {
        if (value == null) {
            names.add(name);
        }
    }

    private @Nullable Mistake permitsMistake(String name, String key, Map<LimitNumber, Object> values) {
        Object permits = values.get(LimitNumber.PERMITS);
        Object pool = values.get(LimitNumber.PERMITS_FROM);
        boolean isShared = values.containsKey(LimitNumber.CLUSTER_PERMITS);
        if (permits == null && pool == null && !isShared) {
            return new Mistake(
                    "Limit '%s' has no permits".formatted(name),
                    ("Set %s.permits to the maximum number of concurrent calls, at least 1; or set %s.permits-from to the"
                                    + " name of a DataSource bean to use the size of its pool; or set %s.cluster-permits to the maximum"
                                    + " number in all replicas together.")
                            .formatted(key, key, key));
        }
        if (permits != null && pool != null) {
            return new Mistake(
                    "Limit '%s' has both permits: %s%s and permits-from: %s%s"
                            .formatted(name, permits, place(key + ".permits"), pool, place(key + ".permits-from")),
                    "Keep one of %s.permits and %s.permits-from; a blank value unsets what another file sets."
                            .formatted(key, key));
        }
        Object onFailure = values.get(LimitNumber.ON_FAILURE);
        if (onFailure != null && !isShared) {
            return new Mistake(
                    "Limit '%s' has on-failure: %s, which says what calls do while no permits are lent, but no cluster-permits"
                            .formatted(name, PropertyMistakes.text(onFailure)),
                    "Set %s.cluster-permits, or remove %s.on-failure.".formatted(key, key));
        }
        Object headroom = values.get(LimitNumber.HEADROOM);
        if (headroom != null && pool == null) {
            return new Mistake(
                    "Limit '%s' has headroom: %s, which is subtracted from the size of a pool, but no permits-from"
                            .formatted(name, headroom),
                    "Remove %s.headroom, or replace %s.permits with permits-from.".formatted(key, key));
        }
        return null;
    }

    private Map<String, MethodOverride> overrides() {
        Map<String, MethodOverride> overrides = new LinkedHashMap<>();
        properties.methods().forEach((name, method) -> {
            String key = PropertyKeys.method(name);
            Duration timeout = positive(key + ".timeout", method.timeout());
            Duration deadline = positive(key + ".deadline", method.deadline());
            overrides.put(name, new MethodOverride(text(method.limit()), timeout, deadline));
        });
        return overrides;
    }

    /** The status of an answer, 0 for none. A blank value counts as not set. */
    private static int status(String text) {
        String status = text.isBlank() ? Web.DEFAULT_STATUS : text.strip();
        return status.matches("[45]\\d\\d") ? Integer.parseInt(status) : 0;
    }

    private void status(String what, String text) {
        if (status(text) == 0 && !text.strip().equalsIgnoreCase(LimitNames.NONE)) {
            String key = "virtual-thread.web.%s-status".formatted(what);
            mistakes.add(new Mistake(
                    "%s must be an HTTP status from 400 to 599 or none, was '%s'".formatted(key, text.strip()),
                    "Set %s to a status such as 503, or to none to leave the answer to the application."
                            .formatted(key)));
        }
    }

    private @Nullable Duration positive(String key, @Nullable Duration duration) {
        if (duration != null && !duration.isPositive()) {
            mistakes.add(new Mistake(
                    "%s must be longer than zero, was %s%s".formatted(key, Durations.text(duration), place(key)),
                    "Set %s to a duration such as 30s, or remove it.".formatted(key)));
            return null;
        }
        return duration;
    }

    private Duration notNegative(String key, Duration duration) {
        if (duration.isNegative()) {
            mistakes.add(new Mistake(
                    "%s must not be negative, was %s%s".formatted(key, Durations.text(duration), place(key)),
                    "Set %s to 0s or more.".formatted(key)));
            return Duration.ZERO;
        }
        return duration;
    }
}
