package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.TypeHierarchy;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.config.SelfInvocation;
import io.github.virtualthread.config.StartupPart;
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
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The limits of {@code @Async} methods and executors: whether they exist, and what the start says of them. */
@Internal
public final class AsyncCheck implements StartupPart {

    private static final String SPRING = "spring.task.execution";

    private final AsyncExecutors executors;
    private final ConfigurableListableBeanFactory beans;
    private final Environment environment;
    private final List<String> notes = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    /**
     * Creates the check.
     *
     * @param executors executors that are executors of limits
     * @param beans beans of the application
     * @param environment has the properties of Spring Boot
     */
    public AsyncCheck(AsyncExecutors executors, ConfigurableListableBeanFactory beans, Environment environment) {
        this.executors = executors;
        this.beans = beans;
        this.environment = environment;
    }

    @Override
    public List<Mistake> mistakes(TaskLimits limits) {
        List<Mistake> mistakes = new ArrayList<>(executors.check());
        AsyncSettings settings = executors.settings();
        if (settings.limit() != null) {
            addUnknown(AsyncSettings.LIMIT, settings.limit(), limits, mistakes);
        }
        settings.executors()
                .forEach((name, limit) -> addUnknown(AsyncSettings.EXECUTORS + name, limit, limits, mistakes));
        if (mistakes.isEmpty() && settings.enabled() && !settings.isEmpty()) {
            mistakes.addAll(look(settings, limits));
        }
        return mistakes;
    }

    private static void addUnknown(String key, String limit, TaskLimits known, List<Mistake> mistakes) {
        if (!LimitNames.isNone(limit) && !known.contains(limit)) {
            mistakes.add(StartupPart.unknownLimit(key, limit, known));
        }
    }

    /** Finds what there is to say, and which of it is a mistake. */
    private List<Mistake> look(AsyncSettings settings, TaskLimits limits) {
        AsyncCoverage coverage = new AsyncCoverage(beans, executors);
        notes.add("@Async: " + coverage.summary());
        if (!settings.executors().isEmpty()) {
            notes.add(settings.executors().entrySet().stream()
                    .map(each -> "%s (%s)".formatted(each.getKey(), each.getValue()))
                    .collect(Collectors.joining(", ", "executors ", "")));
        }
        if (settings.limit() != null) {
            for (String name : beans.getBeanNamesForType(AsyncConfigurer.class, true, false)) {
                noteUnused(name);
            }
        }
        remarks.addAll(coverage.elsewhere);
        warnings.addAll(coverage.problems);
        warnings.addAll(executors.losses());
        settings.executors()
                .forEach((bean, limit) -> warnOfMaxWait(
                        "Executor '%s'".formatted(bean),
                        limit,
                        limits,
                        "A later rejection is a lost task, unless only @Async methods use it: who waits for supplyAsync waits forever, a"
                                + " channel loses its message, and Quartz does not fire that trigger again"));
        if (settings.limit() != null && coverage.isWoven()) { // the aspect drops the future of a void method
            warnOfMaxWait(
                    "Woven @Async",
                    settings.limit(),
                    limits,
                    "No AsyncUncaughtExceptionHandler hears of void calls that it rejects later");
        }
        if (settings.executors().containsKey(AsyncSettings.APPLICATION)) {
            warnOfProperties();
        }
        SelfInvocation calls =
                beans.getBean(BeanNames.SETTINGS, EngineSettings.class).selfInvocation();
        if (calls == SelfInvocation.WARN) {
            coverage.selfInvocations.forEach(call -> warnings.add(call.toString()));
        }
        return calls == SelfInvocation.FAIL ? coverage.selfInvocations : List.of();
    }

    /** An executor that the application gives to {@code @Async}, by its class: Spring Boot 4.1 wraps the bean. */
    private void noteUnused(String configurer) {
        Class<?> declared = executors.declaredType(configurer);
        Class<?> type = declared == null ? beans.getType(configurer, false) : ClassUtils.getUserClass(declared);
        Method method = type == null ? null : ReflectionUtils.findMethod(type, "getAsyncExecutor");
        if (method != null && method.getDeclaringClass() != AsyncConfigurer.class && !TypeHierarchy.isOfSpring(type)) {
            notes.add("%s.getAsyncExecutor() is not used for @Async, because %s is set"
                    .formatted(type.getSimpleName(), AsyncSettings.LIMIT));
        }
    }

    private void warnOfMaxWait(String what, String name, TaskLimits limits, String loss) {
        TaskLimit limit = LimitNames.isNone(name) ? null : limits.get(name);
        if (limit != null && limit.maxWait() != null) {
            warnings.add("%s is under limit '%s', which has a max-wait. %s. Set %s.queue-capacity in place of max-wait"
                    .formatted(what, limit.name(), loss, PropertyKeys.limit(limit.name())));
        }
    }

    /** Of what Spring Boot's executor takes from its properties. */
    private void warnOfProperties() {
        Map<String, String> given = Binder.get(environment)
                .bind(SPRING, Bindable.mapOf(String.class, String.class))
                .orElse(Map.of());
        List<String> without = given.keySet().stream()
                .filter(key -> !key.matches("mode|propagate.*"))
                .map(key -> SPRING + "." + key)
                .toList();
        if (!without.isEmpty()) {
            warnings.add(
                    "%s no longer apply to %s, which is now the executor of a limit. Remove them: the limit has permits and a queue"
                            .formatted(without, AsyncSettings.APPLICATION));
        }
    }

    @Override
    public List<String> notes() {
        return notes;
    }

    @Override
    public List<String> remarks() {
        return remarks;
    }

    @Override
    public List<String> warnings() {
        return warnings;
    }
}
