package io.github.virtualthread.config;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.ApplicationUncaughtExceptionHandler;
import io.github.virtualthread.aop.CallEnvironment;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.Adaptation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.CallWatch;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolPermits;
import io.github.virtualthread.pool.PoolSizes;
import io.github.virtualthread.pool.TransactionWarnings;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.task.TaskDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes the engine and its parts, once for an application, when the first of them is asked for. The definitions of these beans are in
 * {@link VirtualThreadRegistrar}; they name the methods.
 *
 * <p>A part looks up the other parts that are beans by name: a test may have replaced one of them. Spring does not
 * look for bean methods in an infrastructure bean, which would load what the methods return.
 */
@Internal
public final class EngineBeans implements AopInfrastructureBean, BeanFactoryAware, DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private static final String TRANSACTIONS =
            "org.springframework.transaction.support.TransactionSynchronizationManager";

    private static final String CONTEXT_DECORATOR =
            TaskDecorator.class.getPackageName() + ".support.ContextPropagatingTaskDecorator";

    private final EngineSettings settings;
    private final LimitFamilies families;
    private final ObjectProvider<TaskDecorator> decorators;
    private final TaskTimer timer;
    private final CopyOnWriteArrayList<AdvisedMethod> advised = new CopyOnWriteArrayList<>();
    private final SingletonSupplier<PoolPermits> pools;
    private @Nullable ConfigurableListableBeanFactory factory;
    private @Nullable CallWatch watch;

    /** The beans that weigh the keys of the limits, of which the last one does. */
    final List<KeyWeight> weights = new ArrayList<>();

    /** The parameter has the name of its bean: Spring looks there first, and otherwise asks every bean for its type. */
    EngineBeans(
            ObjectProvider<EngineSettings> virtualThreadSettings,
            ObjectProvider<LimitSettings> limits,
            ObjectProvider<TaskDecorator> decorators,
            ObjectProvider<PoolSizes> sizes) {
        this.settings = virtualThreadSettings.getIfAvailable(() -> EngineSettings.DEFAULTS);
        this.families = families(limits);
        this.decorators = decorators;
        this.pools = SingletonSupplier.of(() -> pools(sizes));
        this.timer = new TaskTimer(settings.threadNamePrefix() + "timer");
    }

    private LimitFamilies families(ObjectProvider<LimitSettings> beans) {
        Map<String, LimitSettings> limits = new LinkedHashMap<>();
        // the first of two with the same name: the start-up check reports the second
        beans.orderedStream().forEach(limit -> limits.putIfAbsent(LimitNames.uniform(limit.name()), limit));
        // a property of the same name wins, because the operator sets it
        settings.limits().forEach(limit -> limits.put(LimitNames.uniform(limit.name()), limit));
        return new LimitFamilies(
                limits.values().stream().map(settings::sharedOrNot).toList());
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        factory = (ConfigurableListableBeanFactory) beanFactory;
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(factory, "setBeanFactory has not been called");
    }

    private TaskEngineLifecycle lifecycle() {
        return factory().getBean(BeanNames.LIFECYCLE, TaskEngineLifecycle.class);
    }

    private TaskLimits presentLimits() {
        return factory().getBean(BeanNames.LIMITS, TaskLimits.class);
    }

    LimitFamilies families() {
        return families;
    }

    void add(List<AdvisedMethod> found) {
        advised.addAllAbsent(found);
    }

    /**
     * The advised methods that the checks found, once each, in all contexts that share the engine; complete once each has started. Beans
     * whose class is unknown before they are created, such as products of a factory, are not included.
     *
     * @return unmodifiable, and grows; in the order in which they were found
     */
    public List<AdvisedMethod> advised() {
        return Collections.unmodifiableList(advised);
    }

    /**
     * The limits whose permits come from a pool.
     *
     * @return the same each time
     */
    public PoolPermits pools() {
        return pools.obtain();
    }

    TaskLimits limits(ObjectProvider<TaskLimitCustomizer> customizers) {
        TaskLimits made =
                new TaskLimits(families.limits(), timer, change -> SafeLog.write(() -> logger.info("{}", change)));
        made.all().stream()
                .filter(limit -> limit.settings().isShared())
                .forEach(limit -> factory().getBean(ClusterShares.class).add(limit));
        if (!made.all().isEmpty()) {
            customizers.orderedStream().forEach(customizer -> {
                if (customizer instanceof KeyWeight weight) {
                    weights.add(weight);
                }
                made.all().forEach(limit -> ReportedWeight.customize(customizer, limit));
            });
        }
        return made;
    }

    /**
     * Asked for only if a limit is shared by all replicas. The engine is looked up at the first exchange, because limits are made
     * before data sources.
     */
    ClusterShares shares() {
        ClusterSettings given = settings.cluster();
        ClusterShares shares = new ClusterShares(
                SingletonSupplier.of(ClusterCheck.lookup(factory())),
                given == null ? ClusterSettings.DEFAULTS : given,
                timer);
        // what no call uses any more is free for the other replicas at once
        lifecycle().add(shares::start, shares::stop);
        return shares;
    }

    private PoolPermits pools(ObjectProvider<PoolSizes> sizes) {
        PoolPermits made = new PoolPermits(presentLimits(), factory(), sizes, timer);
        lifecycle().add(made::start, made::stop);
        return made;
    }

    /**
     * All decorators that are put around bodies, in the order in which Spring Boot applies them. Spring's decorator for context
     * propagation is left out: it would set what the engine has propagated already, or what must not be propagated.
     */
    private List<TaskDecorator> decorators() {
        return decorators
                .orderedStream()
                .filter(decorator -> isUsed(decorator.getClass()))
                .toList();
    }

    /** Their names, without creating any. */
    List<String> decoratorNames() {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                        factory(), TaskDecorator.class, true, false))
                .filter(name -> isUsed(factory().getType(name, false)) && isInjected(name))
                .toList();
    }

    private static boolean isUsed(@Nullable Class<?> type) {
        return type == null || !type.getName().equals(CONTEXT_DECORATOR);
    }

    /** Whether the bean is injected by type. A bean without a definition, registered as an object, always is. */
    private boolean isInjected(String name) {
        return !factory().containsBeanDefinition(name)
                || !(factory().getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)
                || (definition.isAutowireCandidate() && definition.isDefaultCandidate());
    }

    TaskEngine engine(ObjectProvider<TaskListener> listeners) {
        ClassLoader classLoader = factory().getBeanClassLoader();
        // once: two first calls may look for listeners at the same time
        List<TaskListener> own = new ArrayList<>();
        if (ClassUtils.isPresent(TRANSACTIONS, classLoader)) {
            own.add(new TransactionWarnings(factory()));
        }
        TaskLimits limits = presentLimits();
        TaskThreads threads = new TaskThreads(
                settings.threadNamePrefix(), classLoader == null ? ClassUtils.getDefaultClassLoader() : classLoader);
        CallExtensions extensions = new CallExtensions(() -> listeners(own, limits, listeners), this::decorators);
        TaskEngine engine =
                new TaskEngine(limits, propagation(classLoader), timer, threads, extensions, settings.callerTrace());
        CallWatch watching = new CallWatch(
                engine, limits, settings.saturatedAfter(), settings.stuckAfter(), settings.threadNamePrefix());
        watch = watching;
        lifecycle().add(watching::start, watching::stop);
        lifecycle().add(engine::start, () -> stop(engine, limits));
        return engine;
    }

    private static List<TaskListener> listeners(
            List<TaskListener> own, TaskLimits limits, ObjectProvider<TaskListener> others) {
        List<TaskListener> all = new ArrayList<>(own);
        // looked for at the first call: no other application loads its class
        if (limits.all().stream().anyMatch(limit -> limit.settings().adapt() != null)) {
            all.add(new Adaptation(limits));
        }
        others.orderedStream().forEach(all::add);
        return all;
    }

    private ContextPropagation propagation(@Nullable ClassLoader classLoader) {
        boolean registered = settings.registeredContext();
        ContextPropagation propagation = ContextPropagation.none();
        if (settings.mdc()) {
            propagation =
                    settings.mdcKeys().isEmpty() ? propagation.withMdc() : propagation.withMdc(settings.mdcKeys());
        }
        if (registered && ContextPropagation.isContextRegistryPresent(classLoader)) {
            propagation = propagation.withRegisteredContext();
        }
        if (registered && ContextPropagation.isSecurityPresent(classLoader)) {
            propagation = propagation.withSecurity();
        }
        return propagation;
    }

    /** Blocks until calls have ended, so that nothing closes while one is running. */
    private void stop(TaskEngine engine, TaskLimits limits) {
        // before the calls have their time to finish, because those that wait for an occupied limit cannot
        limits.all().stream()
                .filter(TaskLimit::isOccupied)
                .forEach(limit -> SafeLog.write(() -> logger.warn(
                        "Limit '{}' is still occupied while the application stops, so calls that wait for it cannot run."
                                + " Close what occupy() returned.",
                        limit.name())));
        engine.stop(settings.awaitTermination());
    }

    VirtualThreads byHand(TaskEngine virtualThreadEngine) {
        return Calls.byHand(virtualThreadEngine, new ApplicationUncaughtExceptionHandler(factory()));
    }

    CallEnvironment environment(TaskEngine virtualThreadEngine) {
        return new CallEnvironment(
                virtualThreadEngine, settings.methods(), new ApplicationUncaughtExceptionHandler(factory()));
    }

    /** A context that fails after its start destroys its beans, but does not stop them. */
    @Override
    public void destroy() {
        if (watch != null) {
            watch.stop();
        }
        timer.close();
    }
}
