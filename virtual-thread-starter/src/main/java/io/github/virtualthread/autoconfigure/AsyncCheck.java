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
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The limits of {@code @Async} methods and executors: whether they exist, and what the start says of them. */
final class AsyncCheck implements FurtherCheck {

    private static final String SPRING = "spring.task.execution";

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
        AsyncSettings settings = executors.settings();
        settings.executors()
                .forEach((bean, limit) -> warnOfMaxWait(
                        "Executor '%s'".formatted(bean),
                        limit,
                        "A later rejection is a lost task, unless only @Async methods use it: who waits for supplyAsync waits forever, a"
                                + " channel loses its message, and Quartz does not fire that trigger again",
                        warnings));
        if (settings.limit() != null && coverage.isWoven()) { // the aspect drops the future of a void method
            warnOfMaxWait(
                    "Woven @Async",
                    settings.limit(),
                    "No AsyncUncaughtExceptionHandler hears of void calls that it rejects later",
                    warnings);
        }
        List<String> without = withoutEffect();
        if (settings.executors().containsKey(AsyncSettings.APPLICATION) && !without.isEmpty()) {
            warnings.add(
                    "%s no longer apply to %s, which is now the executor of a limit. Remove them: the limit has permits and a queue"
                            .formatted(without, AsyncSettings.APPLICATION));
        }
        return warnings;
    }

    private void warnOfMaxWait(String what, String name, String loss, List<String> warnings) {
        TaskLimit limit = limits == null || LimitNames.isNone(name) ? null : limits.get(name);
        if (limit != null && limit.maxWait() != null) {
            warnings.add("%s is under limit '%s', which has a max-wait. %s. Set %s.queue-capacity in place of max-wait"
                    .formatted(what, limit.name(), loss, PropertyKeys.limit(limit.name())));
        }
    }

    /** What Spring Boot's executor takes from its properties. */
    private List<String> withoutEffect() {
        Map<String, String> given = Binder.get(environment)
                .bind(SPRING, Bindable.mapOf(String.class, String.class))
                .orElse(Map.of());
        return given.keySet().stream()
                .filter(key -> !key.matches("mode|propagate.*"))
                .map(key -> SPRING + "." + key)
                .toList();
    }
}
