package io.github.virtualthread.config;

import io.github.virtualthread.aop.ApplicationUncaughtExceptionHandler;
import io.github.virtualthread.aop.CallEnvironment;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.Adaptation;
import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolPermits;
import io.github.virtualthread.pool.PoolSizes;
import io.github.virtualthread.pool.TransactionWarnings;
import io.github.virtualthread.timer.TaskTimer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The engine and its parts: once for an application, in the topmost context that enables it.
 *
 * <p>A parameter has the name of its bean: Spring looks there first, and otherwise asks every bean of the application for its
 * type. No method has more than three of them: the first method with another number of parameters costs a start about ten classes.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(EngineConfiguration.OnMissingEngine.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class EngineConfiguration implements BeanFactoryAware {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private static final String TRANSACTIONS =
            "org.springframework.transaction.support.TransactionSynchronizationManager";

    private final ObjectProvider<EngineSettings> settings;
    private final ObjectProvider<ClusterShares> clusterShares;
    private final ObjectProvider<TaskListener> listeners;
    private @Nullable ConfigurableListableBeanFactory factory;

    EngineConfiguration(
            ObjectProvider<EngineSettings> virtualThreadSettings,
            ObjectProvider<ClusterShares> virtualThreadClusterShares,
            ObjectProvider<TaskListener> listeners) {
        this.settings = virtualThreadSettings;
        this.clusterShares = virtualThreadClusterShares;
        this.listeners = listeners;
    }

    /** Not a parameter of the beans: Spring would first look for a bean of that type. */
    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        factory = (ConfigurableListableBeanFactory) beanFactory;
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(factory, "setBeanFactory has not been called");
    }

    private EngineSettings settings() {
        EngineSettings given = settings.getIfAvailable();
        return given == null ? EngineSettings.DEFAULTS : given;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    TaskTimer virtualThreadTimer() {
        return new TaskTimer(settings().threadNamePrefix() + "timer");
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    LimitFamilies virtualThreadLimitFamilies(ObjectProvider<LimitSettings> beans) {
        EngineSettings given = settings();
        Map<String, LimitSettings> limits = new LinkedHashMap<>();
        // the first of two with the same name: the start-up check reports the second
        beans.orderedStream().forEach(limit -> limits.putIfAbsent(LimitNames.uniform(limit.name()), limit));
        // a property of the same name wins, because the operator sets it
        given.limits().forEach(limit -> limits.put(LimitNames.uniform(limit.name()), limit));
        return new LimitFamilies(
                limits.values().stream().map(given::sharedOrNot).toList());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    TaskLimits virtualThreadLimits(
            LimitFamilies virtualThreadLimitFamilies,
            ObjectProvider<TaskLimitCustomizer> customizers,
            TaskTimer virtualThreadTimer) {
        TaskLimits made = new TaskLimits(
                virtualThreadLimitFamilies.limits(),
                virtualThreadTimer,
                change -> SafeLog.write(() -> logger.info("{}", change)));
        made.all().stream()
                .filter(limit -> limit.settings().isShared())
                .forEach(limit -> clusterShares.getObject().add(limit));
        if (!made.all().isEmpty()) {
            customizers.orderedStream().forEach(customizer -> made.all().forEach(customizer::customize));
        }
        return made;
    }

    /**
     * Asked for only if a limit is shared by all replicas. The engine is looked up at the first exchange, because limits are made
     * before data sources. A destroy method, because a context that fails after its start does not stop its beans.
     */
    @Bean(destroyMethod = "stop")
    @Lazy
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    ClusterShares virtualThreadClusterShares(ObjectProvider<ClusterEngine> engines, TaskTimer virtualThreadTimer) {
        ClusterSettings given = settings().cluster();
        return new ClusterShares(
                SingletonSupplier.of(new ClusterEngineLookup(engines)),
                given == null ? ClusterSettings.DEFAULTS : given,
                virtualThreadTimer);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    AdvisedMethods virtualThreadAdvisedMethods() {
        return new AdvisedMethods();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    PoolPermits virtualThreadPoolPermits(
            TaskLimits virtualThreadLimits, TaskTimer virtualThreadTimer, ObjectProvider<PoolSizes> sizes) {
        return new PoolPermits(virtualThreadLimits, factory(), sizes, virtualThreadTimer);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    ApplicationDecorators virtualThreadDecorators(ObjectProvider<TaskDecorator> beans) {
        return new ApplicationDecorators(beans, factory());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    TaskEngine virtualThreadEngine(
            TaskLimits virtualThreadLimits,
            TaskTimer virtualThreadTimer,
            ApplicationDecorators virtualThreadDecorators) {
        EngineSettings given = settings();
        ClassLoader classLoader = factory().getBeanClassLoader();
        // once: two first calls may look for listeners at the same time
        List<TaskListener> own = ClassUtils.isPresent(TRANSACTIONS, classLoader)
                ? List.of(new TransactionWarnings(factory()))
                : List.of();
        return new TaskEngine(
                virtualThreadLimits,
                propagation(given, classLoader),
                virtualThreadTimer,
                given.threadNamePrefix(),
                classLoader == null ? ClassUtils.getDefaultClassLoader() : classLoader,
                () -> Stream.of(own.stream(), adaptation(virtualThreadLimits), listeners.orderedStream())
                        .flatMap(each -> each)
                        .toList(),
                virtualThreadDecorators::all,
                given.callerTrace());
    }

    /** Looked for at the first call: no other application loads its class. */
    private static Stream<TaskListener> adaptation(TaskLimits limits) {
        boolean isNeeded =
                limits.all().stream().anyMatch(limit -> limit.settings().adapt() != null);
        return isNeeded ? Stream.of(new Adaptation(limits)) : Stream.empty();
    }

    /** A destroy method, because a context that fails after its start destroys its beans but does not stop them. */
    @Bean(destroyMethod = "stop")
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    CallWatch virtualThreadCallWatch(TaskEngine virtualThreadEngine, TaskLimits virtualThreadLimits) {
        EngineSettings given = settings();
        return new CallWatch(
                virtualThreadEngine,
                virtualThreadLimits,
                given.watch().saturated(),
                given.watch().stuck(),
                given.threadNamePrefix());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    TaskEngineLifecycle virtualThreadEngineLifecycle(
            TaskEngine virtualThreadEngine, TaskLimits virtualThreadLimits, CallWatch virtualThreadCallWatch) {
        return new TaskEngineLifecycle(
                virtualThreadEngine,
                virtualThreadLimits,
                settings().awaitTermination(),
                virtualThreadCallWatch,
                clusterShares);
    }

    @Bean
    @Lazy
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    VirtualThreads virtualThreadsByHand(TaskEngine virtualThreadEngine) {
        return new VirtualThreads(
                virtualThreadEngine, new ApplicationUncaughtExceptionHandler(factory())::handleUncaughtException);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    CallEnvironment virtualThreadInterception(TaskEngine virtualThreadEngine) {
        return new CallEnvironment(
                virtualThreadEngine, settings().methods(), new ApplicationUncaughtExceptionHandler(factory()));
    }

    private static ContextPropagation propagation(EngineSettings settings, @Nullable ClassLoader classLoader) {
        boolean registered = settings.registeredContext();
        ContextPropagation propagation = ContextPropagation.none();
        if (settings.mdc()) {
            propagation =
                    settings.mdcKeys().isEmpty() ? propagation.withMdc() : propagation.withMdc(settings.mdcKeys());
        }
        if (registered && ContextPropagation.isContextRegistryPresent(classLoader)) {
            propagation = propagation.withRegisteredContext();
        }
        return registered && ContextPropagation.isSecurityPresent(classLoader)
                ? propagation.withSecurity()
                : propagation;
    }

    /** A child context uses the engine of its parent: two engines would be two limits of one name. */
    static final class OnMissingEngine implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
            return beanFactory == null || !beanFactory.containsBean("virtualThreadEngine");
        }
    }
}
