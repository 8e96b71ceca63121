package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.FurtherCheck;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The limits of executors: whether they exist, and what the start says of them.
 *
 * @param limits names of limits by the properties that name them
 * @param enabled whether executors were replaced
 */
record AsyncCheck(
        Map<String, String> limits, boolean enabled, ConfigurableListableBeanFactory beans, Environment environment)
        implements FurtherCheck {

    private static final ConfigurationPropertyName SPRING = ConfigurationPropertyName.of("spring.task.execution");

    /** What Spring Boot's executor takes from its properties. */
    private static final Set<String> OF_POOLS = Set.of("pool", "simple", "shutdown", "threadnameprefix");

    @Override
    public List<Mistake> mistakes(TaskLimits known) {
        List<Mistake> mistakes = new ArrayList<>();
        limits.forEach((key, limit) -> {
            if (!LimitNames.isNone(limit) && !known.contains(limit)) {
                mistakes.add(FurtherCheck.unknownLimit(key, limit, known));
            }
        });
        return mistakes;
    }

    @Override
    public List<String> notes() {
        if (!enabled) {
            return List.of();
        }
        List<String> notes = new ArrayList<>();
        String common = limits.get(AsyncNames.LIMIT);
        if (common != null) {
            notes.add(LimitNames.isNone(common) ? "@Async without a limit" : "@Async under limit " + common);
        }
        StringJoiner others = new StringJoiner(", ", "executors ", "").setEmptyValue("");
        limits.forEach((key, limit) -> {
            if (key.startsWith(AsyncNames.EXECUTORS)) {
                others.add("%s (%s)".formatted(key.substring(AsyncNames.EXECUTORS.length()), limit));
            }
        });
        if (others.length() > 0) {
            notes.add(others.toString());
        }
        if (common != null) {
            for (String name : beans.getBeanNamesForType(AsyncConfigurer.class, true, false)) {
                addUnused(beans.getMergedBeanDefinition(name), notes);
            }
        }
        return notes;
    }

    /** An executor that the application gives to {@code @Async}, by its class: Spring Boot 4.1 wraps the bean. */
    private static void addUnused(BeanDefinition definition, List<String> notes) {
        if (definition instanceof AbstractBeanDefinition configurer && configurer.hasBeanClass()) {
            Class<?> type = ClassUtils.getUserClass(configurer.getBeanClass());
            Method method = ReflectionUtils.findMethod(type, "getAsyncExecutor");
            if (method != null && method.getDeclaringClass() != AsyncConfigurer.class) {
                notes.add("%s.getAsyncExecutor() is not used, because %s is set"
                        .formatted(type.getSimpleName(), AsyncNames.LIMIT));
            }
        }
    }

    @Override
    public List<String> warnings() {
        boolean replaced = limits.containsKey(AsyncNames.LIMIT)
                || limits.containsKey(AsyncNames.EXECUTORS + AsyncNames.APPLICATION);
        if (!enabled || !replaced) {
            return List.of();
        }
        Set<String> without = withoutEffect();
        if (without.isEmpty()) {
            return List.of();
        }
        return List.of(
                "%s no longer apply to %s, which is now the executor of a limit. Remove them: the limit has permits and a queue"
                        .formatted(without, AsyncNames.APPLICATION));
    }

    private Set<String> withoutEffect() {
        Set<String> found = new LinkedHashSet<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource listed) {
                for (ConfigurationPropertyName key : listed) {
                    if (SPRING.isAncestorOf(key) && OF_POOLS.contains(key.getElement(3, Form.UNIFORM))) {
                        found.add(key.toString());
                    }
                }
            }
        }
        return found;
    }
}
