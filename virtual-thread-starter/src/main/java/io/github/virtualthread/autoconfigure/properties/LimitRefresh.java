package io.github.virtualthread.autoconfigure.properties;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.config.ClusterCheck;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.config.LimitFamilies;
import io.github.virtualthread.config.ReportedWeight;
import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitNumber.Change;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.pool.PoolPermits;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MutablePropertySources;

/**
 * Applies changed limits when Spring Cloud publishes that the environment has changed. The event is recognised by the name of
 * its class.
 *
 * <p>Only differences from the properties that were bound last are applied, so that a limit resized by hand survives an
 * unrelated change. New limits are added, removed ones are kept, and none moves into another limit. Bad values change nothing and
 * are logged; no exception reaches the publisher of the event.
 */
@Internal
public final class LimitRefresh implements GenericApplicationListener {

    /** Name of the event of Spring Cloud that tells of changed properties. */
    public static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private static final String WRONG =
            "The changed properties of limits contain mistakes; the limits are unchanged: {}";
    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private final ConfigurableEnvironment environment;
    private final ObjectProvider<TaskLimitCustomizer> customizers;
    private final ListableBeanFactory beans;
    private @Nullable Map<String, LimitSettings> bound;

    LimitRefresh(
            ConfigurableEnvironment environment,
            ObjectProvider<TaskLimitCustomizer> customizers,
            ListableBeanFactory beans) {
        this.environment = environment;
        this.customizers = customizers;
        this.beans = beans;
    }

    @Override
    public boolean supportsEventType(ResolvableType eventType) {
        Class<?> type = eventType.resolve();
        return type != null && type.getName().equals(EVENT);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        try {
            refresh();
        } catch (RuntimeException failure) {
            logger.error("The changed properties of limits cannot be read; the limits are unchanged", failure);
        }
    }

    private void refresh() {
        MutablePropertySources sources = environment.getPropertySources();
        PropertiesBinding binding = PropertiesBinding.of(sources);
        if (!binding.mistakes().isEmpty()) {
            logger.error(WRONG, binding.mistakes());
            return;
        }
        VirtualThreadProperties properties = binding.properties();
        EngineSettings fresh =
                properties == null ? EngineSettings.DEFAULTS : SettingsFactory.create(properties, sources);
        EngineSettings settings = beans.getBean(EngineSettings.class);
        PoolPermits pools = beans.getBean(EngineBeans.class).pools();
        List<Mistake> mistakes = new ArrayList<>(fresh.mistakes());
        Map<String, LimitSettings> asked = byName(fresh);
        LimitFamilies families = new LimitFamilies(allLimits(asked).values());
        mistakes.addAll(families.mistakes());
        List<LimitSettings> wanted = new ArrayList<>();
        for (LimitSettings limit : families.limits()) {
            try {
                if (asked.containsKey(LimitNames.uniform(limit.name()))) {
                    wanted.add(pools.resolve(limit));
                }
            } catch (VirtualThreadConfigurationException wrong) {
                mistakes.addAll(wrong.mistakes());
            }
        }
        mistakes.addAll(ClusterCheck.mistakes(beans, settings.cluster(), wanted));
        if (!mistakes.isEmpty()) {
            logger.error(WRONG, mistakes);
            return;
        }
        Map<String, LimitSettings> before = bound == null ? byName(settings) : bound;
        asked.forEach((name, limit) -> {
            if (limits().contains(name)) {
                logIfMoved(before.get(name), limit, limits().get(name));
            }
        });
        wanted.forEach(limit -> apply(before.get(LimitNames.uniform(limit.name())), limit));
        bound = asked;
        pools.read();
    }

    private TaskLimits limits() {
        return beans.getBean(TaskLimits.class);
    }

    /** Those that exist, with what is asked of them, and new ones. Those that exist stay within the limit that they are within. */
    private Map<String, LimitSettings> allLimits(Map<String, LimitSettings> asked) {
        Map<String, LimitSettings> all = new LinkedHashMap<>(asked);
        for (TaskLimit limit : limits().all()) {
            LimitSettings settings =
                    all.getOrDefault(LimitNames.uniform(limit.name()), LimitSettings.of(limit.name(), limit.permits()));
            all.put(LimitNames.uniform(limit.name()), settings.withWithin(nameAround(limit)));
        }
        return all;
    }

    private static @Nullable String nameAround(TaskLimit limit) {
        TaskLimit around = limit.within();
        return around == null ? null : around.name();
    }

    private static void logIfMoved(@Nullable LimitSettings before, LimitSettings after, TaskLimit limit) {
        String around = nameAround(limit);
        boolean isAsked = before == null || !LimitNames.areEqual(before.within(), after.within());
        if (isAsked && !LimitNames.areEqual(around, after.within())) {
            logger.error(
                    "Limit '{}' stays within {}: {}.within is now {}, but a limit cannot move while the application runs."
                            + " Restart the application to move it.",
                    limit.name(),
                    around == null ? "no other limit" : "'" + around + "'",
                    PropertyKeys.limit(limit.name()),
                    after.within() == null ? "not set" : "'" + after.within() + "'");
        }
    }

    private void apply(@Nullable LimitSettings before, LimitSettings after) {
        TaskLimits limits = limits();
        LimitSettings added = after.withAdapt(null);
        boolean isNew = limits.add(added);
        if (isNew) {
            logger.info("Limit added by {}: {}", Source.ENVIRONMENT, added);
            if (after.isShared()) {
                beans.getBean(ClusterShares.class).add(limits.get(after.name()));
            }
            customizers.orderedStream().forEach(customizer -> customize(customizer, limits.get(after.name())));
        }
        if (!isNew || after.adapt() != null) {
            try {
                limits.change(limits.get(after.name()), now -> changed(before, after, now), Source.ENVIRONMENT);
            } catch (IllegalArgumentException impossible) { // what can only be there from the beginning
                logger.error("{}. The limit is unchanged", impossible.getMessage());
            }
        }
    }

    /**
     * Applies the difference between two properties to a limit.
     *
     * @param before the properties that were bound last, null if there were none
     * @param after the properties of now
     * @param now the limit, which may have been changed by hand
     */
    static LimitSettings changed(@Nullable LimitSettings before, LimitSettings after, LimitSettings now) {
        if (before == null) {
            return after;
        }
        return LimitNumber.changed(now, changes(before, after));
    }

    private static Map<LimitNumber, @Nullable Object> changes(LimitSettings before, LimitSettings after) {
        Map<LimitNumber, @Nullable Object> changes = new EnumMap<>(LimitNumber.class);
        for (LimitNumber number : LimitNumber.values()) {
            boolean isOther = !Objects.equals(number.of(before), number.of(after));
            if (isOther && number.change() != Change.NEVER) {
                changes.put(number, number.of(after));
            }
        }
        if (!Objects.equals(before.permitsFrom(), after.permitsFrom())) {
            for (LimitNumber number : List.of(LimitNumber.PERMITS, LimitNumber.PERMITS_FROM, LimitNumber.HEADROOM)) {
                changes.put(number, number.of(after));
            }
        } else if (after.permitsFrom() != null || (hasAll(before) && hasAll(after))) {
            changes.remove(LimitNumber.PERMITS); // no property: they are those of a pool, or all that the replicas have
        }
        return changes;
    }

    private static boolean hasAll(LimitSettings limit) {
        return Objects.equals(limit.clusterPermits(), limit.permits());
    }

    /** Contains failures: the limit exists already, and other changes follow. */
    private static void customize(TaskLimitCustomizer customizer, TaskLimit limit) {
        try {
            ReportedWeight.customize(customizer, limit);
        } catch (RuntimeException failure) {
            logger.error("{} failed on limit '{}', which keeps its settings", customizer, limit.name(), failure);
        }
    }

    private static Map<String, LimitSettings> byName(EngineSettings settings) {
        Map<String, LimitSettings> limits = new LinkedHashMap<>();
        for (LimitSettings limit : settings.limits()) {
            limits.put(LimitNames.uniform(limit.name()), settings.sharedOrNot(limit));
        }
        return limits;
    }
}
