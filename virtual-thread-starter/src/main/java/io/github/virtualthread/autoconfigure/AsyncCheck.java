package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.TypeHierarchy;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.config.FurtherCheck;
import io.github.virtualthread.config.SelfInvocation;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The limits of {@code @Async} methods and executors: whether they exist, and what the start says of them. */
final class AsyncCheck implements FurtherCheck {

    private static final ConfigurationPropertyName SPRING = ConfigurationPropertyName.of("spring.task.execution");

    /** What Spring Boot's executor takes from its properties. */
    private static final Set<String> OF_POOLS = Set.of("pool", "simple", "shutdown", "threadnameprefix");

    private final AsyncExecutors executors;
    private final AsyncMethods methods;
    private final ConfigurableListableBeanFactory beans;
    private final Environment environment;
    private @Nullable AsyncCoverage coverage;
    private @Nullable TaskLimits limits;

    AsyncCheck(
            AsyncExecutors executors,
            AsyncMethods methods,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        this.executors = executors;
        this.methods = methods;
        this.beans = beans;
        this.environment = environment;
    }

    @Override
    public List<Mistake> mistakes(TaskLimits known) {
        limits = known;
        List<Mistake> mistakes = new ArrayList<>(executors.check());
        AsyncSettings settings = executors.settings();
        if (settings.limit() != null) {
            addUnknown(AsyncSettings.LIMIT, settings.limit(), known, mistakes);
        }
        settings.executors()
                .forEach((name, limit) -> addUnknown(AsyncSettings.EXECUTORS + name, limit, known, mistakes));
        if (mistakes.isEmpty() && settings.enabled() && !settings.isEmpty()) {
            coverage = new AsyncCoverage(beans, methods, executors);
            if (selfInvocation() == SelfInvocation.FAIL) {
                mistakes.addAll(coverage.selfInvocations);
            }
        }
        return mistakes;
    }

    private static void addUnknown(String key, String limit, TaskLimits known, List<Mistake> mistakes) {
        if (!LimitNames.isNone(limit) && !known.contains(limit)) {
            mistakes.add(FurtherCheck.unknownLimit(key, limit, known));
        }
    }

    private SelfInvocation selfInvocation() {
        return beans.getBean(BeanNames.SETTINGS, EngineSettings.class).selfInvocation();
    }

    @Override
    public List<String> notes() {
        if (coverage == null) {
            return List.of();
        }
        List<String> notes = new ArrayList<>();
        notes.add("@Async: " + coverage.summary());
        AsyncSettings settings = executors.settings();
        if (!settings.executors().isEmpty()) {
            notes.add(settings.executors().entrySet().stream()
                    .map(each -> "%s (%s)".formatted(each.getKey(), each.getValue()))
                    .collect(Collectors.joining(", ", "executors ", "")));
        }
        if (settings.limit() != null) {
            for (String name : beans.getBeanNamesForType(AsyncConfigurer.class, true, false)) {
                addUnused(name, notes);
            }
        }
        return notes;
    }

    /** An executor that the application gives to {@code @Async}, by its class: Spring Boot 4.1 wraps the bean. */
    private void addUnused(String configurer, List<String> notes) {
        Class<?> declared = executors.declaredType(configurer);
        Class<?> type = declared == null ? beans.getType(configurer, false) : ClassUtils.getUserClass(declared);
        Method method = type == null ? null : ReflectionUtils.findMethod(type, "getAsyncExecutor");
        if (method != null && method.getDeclaringClass() != AsyncConfigurer.class && !TypeHierarchy.isOfSpring(type)) {
            notes.add("%s.getAsyncExecutor() is not used for @Async, because %s is set"
                    .formatted(type.getSimpleName(), AsyncSettings.LIMIT));
        }
    }

    @Override
    public List<String> remarks() {
        return coverage == null ? List.of() : coverage.elsewhere;
    }

    @Override
    public List<String> warnings() {
        if (coverage == null) {
            return List.of();
        }
        List<String> warnings = new ArrayList<>(coverage.problems);
        if (selfInvocation() == SelfInvocation.WARN) {
            coverage.selfInvocations.forEach(call -> warnings.add(call.toString()));
        }
        warnings.addAll(executors.losses());
        executors.settings().executors().forEach((bean, limit) -> warnOfMaxWait(bean, limit, warnings));
        warnOfAspect(executors.settings().limit(), warnings);
        Set<String> without = withoutEffect();
        if (executors.settings().executors().containsKey(AsyncSettings.APPLICATION) && !without.isEmpty()) {
            warnings.add(
                    "%s no longer apply to %s, which is now the executor of a limit. Remove them: the limit has permits and a queue"
                            .formatted(without, AsyncSettings.APPLICATION));
        }
        return warnings;
    }

    /** A library may wait for a future that a later rejection cannot reach. */
    private void warnOfMaxWait(String bean, String name, List<String> warnings) {
        TaskLimit limit = impatient(name);
        if (limit != null) {
            warnings.add(
                    ("Executor '%s' is under limit '%s', which has a max-wait. A later rejection is a lost task: who waits for"
                                    + " supplyAsync waits forever, a channel loses its message, and Quartz does not fire that trigger again."
                                    + " Set %s.queue-capacity in place of max-wait, unless only @Async methods use it")
                            .formatted(bean, limit.name(), PropertyKeys.limit(limit.name())));
        }
    }

    /** Spring's aspect drops the future of a void method. */
    private void warnOfAspect(@Nullable String name, List<String> warnings) {
        TaskLimit limit = name == null || coverage == null || !coverage.isWoven() ? null : impatient(name);
        if (limit != null) {
            warnings.add(
                    ("@Async is woven, and limit '%s' has a max-wait: no AsyncUncaughtExceptionHandler hears of void calls that it rejects"
                                    + " later. Set %s.queue-capacity in place of max-wait")
                            .formatted(limit.name(), PropertyKeys.limit(limit.name())));
        }
    }

    /** The limit of a name, if it has a maximum wait. */
    private @Nullable TaskLimit impatient(String name) {
        TaskLimit limit = limits == null || LimitNames.isNone(name) ? null : limits.get(name);
        return limit == null || limit.maxWait() == null ? null : limit;
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
