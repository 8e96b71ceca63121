package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Async;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.VirtualThreadRegistrar;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.SimpleAliasRegistry;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.StringUtils;

/**
 * Replaces the definitions of executors by those of limits. The old executor is never created, and what refers to its bean by name,
 * alias or qualifier gets the new one.
 *
 * <p>Another executor beside that of Spring Boot would not do: Spring Boot's would back off with all that belongs to it, and with
 * two executors {@code @Async} silently has threads without a limit.
 */
final class AsyncExecutors implements ImportBeanDefinitionRegistrar {

    /** Attribute of a definition that has replaced another: what that was. */
    static final String REPLACED = Replaced.class.getName();

    private final ConfigurableEnvironment environment;
    private final ConfigurableListableBeanFactory beans;
    private final List<Mistake> mistakes = new ArrayList<>();

    AsyncExecutors(Environment environment, BeanFactory beans) {
        this.environment = (ConfigurableEnvironment) environment;
        this.beans = (ConfigurableListableBeanFactory) beans;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        VirtualThreadProperties properties =
                PropertiesBinding.of(environment.getPropertySources()).properties();
        Map<String, Asked> asked = properties == null ? Map.of() : asked(properties.async());
        if (asked.isEmpty() || !beans.containsBean(BeanNames.BY_HAND)) {
            return;
        }
        boolean enabled = PropertiesBinding.isOn(environment, "virtual-thread.enabled", true);
        asked.forEach((bean, by) -> register(bean, by, enabled, registry));
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        Map<String, String> limits = new LinkedHashMap<>();
        asked.values().forEach(by -> limits.put(by.key, by.limit));
        RootBeanDefinition check = VirtualThreadRegistrar.infrastructure(AsyncCheck.class);
        check.getConstructorArgumentValues().addIndexedArgumentValue(0, limits);
        check.getConstructorArgumentValues().addIndexedArgumentValue(1, enabled);
        registry.registerBeanDefinition(BeanNames.ASYNC_CHECK, check);
        if (enabled) {
            registry.registerBeanDefinition(
                    "virtualThreadAsyncMethods", VirtualThreadRegistrar.infrastructure(AsyncMethods.class));
        }
    }

    /** What is asked for, by the names of the beans. An alias means its bean. */
    private Map<String, Asked> asked(Async async) {
        Map<String, Asked> asked = new LinkedHashMap<>();
        if (StringUtils.hasText(async.limit())) {
            asked.put(AsyncNames.APPLICATION, new Asked(AsyncNames.LIMIT, async.limit()));
        }
        async.executors().forEach((name, limit) -> {
            if (StringUtils.hasText(limit)) {
                String bean = beans instanceof SimpleAliasRegistry aliases ? aliases.canonicalName(name) : name;
                Asked by = new Asked(AsyncNames.EXECUTORS + name, limit);
                Asked before = asked.putIfAbsent(bean, by);
                if (before != null && !LimitNames.areEqual(before.limit, by.limit)) {
                    mistakes.add(new Mistake(
                            "%s asks for limit '%s', and %s for limit '%s', but both are about the bean '%s'"
                                    .formatted(before.key, before.limit, by.key, by.limit, bean),
                            "Remove one of them."));
                }
            }
        });
        return asked;
    }

    private void register(String bean, Asked by, boolean enabled, BeanDefinitionRegistry registry) {
        if (!beans.containsBean(bean)) {
            RootBeanDefinition added = enabled ? executor(bean, by.limit) : onCallersThread();
            added.setDefaultCandidate(false); // or an injection by type would become ambiguous
            registry.registerBeanDefinition(bean, added);
            return;
        }
        Class<?> type = beans.getType(bean, false);
        Mistake mistake = mistake(bean, by, type);
        if (mistake != null) {
            mistakes.add(mistake);
        } else if (enabled) {
            replace(bean, by, type, registry);
        }
    }

    /** Why the executor of a limit cannot replace a bean, null if it can. */
    private @Nullable Mistake mistake(String bean, Asked by, @Nullable Class<?> type) {
        String more = type == null ? null : moreThanAnExecutor(type);
        if (more != null) {
            return new Mistake(
                    "%s: the bean '%s' is %s, which the executor of a limit is not".formatted(by.key, bean, more),
                    "Declare it as Executor, or remove the entry.");
        }
        if (type != null && !Executor.class.isAssignableFrom(type)) {
            return new Mistake(
                    "%s: the bean '%s' is a %s, not an executor".formatted(by.key, bean, type.getName()),
                    "Use another bean name.");
        }
        if (beans.containsSingleton(bean)) {
            return new Mistake(
                    "%s: the bean '%s' exists already and cannot be replaced".formatted(by.key, bean),
                    "Declare it by a @Bean method that no post-processor needs, or remove the entry.");
        }
        return null;
    }

    private static @Nullable String moreThanAnExecutor(Class<?> type) {
        if (TaskScheduler.class.isAssignableFrom(type)) {
            return "a TaskScheduler";
        }
        if (ExecutorService.class.isAssignableFrom(type) && !TaskExecutor.class.isAssignableFrom(type)) {
            return "an ExecutorService";
        }
        return null;
    }

    private void replace(String bean, Asked by, @Nullable Class<?> type, BeanDefinitionRegistry registry) {
        RootBeanDefinition theirs = (RootBeanDefinition) beans.getMergedBeanDefinition(bean);
        if (BeanNames.BY_HAND.equals(theirs.getFactoryBeanName())) {
            return; // of a parent context, which has replaced it
        }
        RootBeanDefinition ours = executor(bean, by.limit);
        ours.setPrimary(theirs.isPrimary());
        ours.setFallback(theirs.isFallback());
        ours.setAutowireCandidate(theirs.isAutowireCandidate());
        ours.setDefaultCandidate(theirs.isDefaultCandidate());
        ours.copyQualifiersFrom(theirs);
        Method method = theirs.getResolvedFactoryMethod();
        AnnotatedElement annotated = method == null ? type : method;
        if (annotated != null) {
            copyQualifiers(annotated, ours);
        }
        if (type != null) {
            ours.setAttribute(REPLACED, new Replaced(by.key, type));
        }
        if (registry.containsBeanDefinition(bean)) {
            registry.removeBeanDefinition(bean);
        }
        registry.registerBeanDefinition(bean, ours);
    }

    /** As attributes of the definition, because that can be written down ahead of time. */
    private static void copyQualifiers(AnnotatedElement annotated, RootBeanDefinition ours) {
        for (Annotation annotation : annotated.getAnnotations()) {
            Class<? extends Annotation> type = annotation.annotationType();
            if (type == Qualifier.class || type.isAnnotationPresent(Qualifier.class)) {
                AutowireCandidateQualifier qualifier = new AutowireCandidateQualifier(type);
                AnnotationUtils.getAnnotationAttributes(annotation).forEach(qualifier::setAttribute);
                ours.addQualifier(qualifier);
            }
        }
    }

    /** Lazy, and its limit is looked up at its first task: see {@code VirtualThreads.asyncExecutor}. */
    private static RootBeanDefinition executor(String bean, String limit) {
        RootBeanDefinition definition = new RootBeanDefinition();
        definition.setTargetType(AsyncTaskExecutor.class);
        definition.setFactoryBeanName(BeanNames.BY_HAND);
        definition.setFactoryMethodName("asyncExecutor");
        definition.getConstructorArgumentValues().addIndexedArgumentValue(0, bean);
        definition.getConstructorArgumentValues().addIndexedArgumentValue(1, limit);
        definition.setLazyInit(true);
        return definition;
    }

    private static RootBeanDefinition onCallersThread() {
        RootBeanDefinition definition = new RootBeanDefinition(TaskExecutorAdapter.class);
        definition
                .getConstructorArgumentValues()
                .addIndexedArgumentValue(0, new RootBeanDefinition(SyncTaskExecutor.class));
        return definition;
    }

    /**
     * What is asked for a bean.
     *
     * @param key property that asks for it
     * @param limit name of the limit whose executor the bean becomes
     */
    private record Asked(String key, String limit) {}

    /**
     * What a definition has replaced.
     *
     * @param key property that asked for it
     * @param type type of the bean before
     */
    record Replaced(String key, Class<?> type) {}
}
