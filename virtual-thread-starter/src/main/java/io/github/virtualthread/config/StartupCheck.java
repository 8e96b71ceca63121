package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.pool.EngineConnections;
import io.github.virtualthread.pool.PoolPermits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Fails the start with one exception that lists every mistake. If there is none, logs one line that says what was found.
 *
 * <p>It runs at every start of every application. So it asks Spring for as little as possible by type, because Spring then asks
 * all beans, and loads the classes of a check only where there is something to check.
 */
final class StartupCheck implements SmartInitializingSingleton, BeanFactoryAware {

    private final ObjectProvider<EngineSettings> settings;
    private final TaskLimits limits;
    private @Nullable ConfigurableListableBeanFactory beanFactory;

    /** The parameters have the names of their beans, see {@link EngineConfiguration}. */
    StartupCheck(ObjectProvider<EngineSettings> virtualThreadSettings, TaskLimits virtualThreadLimits) {
        this.settings = virtualThreadSettings;
        this.limits = virtualThreadLimits;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
    }

    @Override
    public void afterSingletonsInstantiated() {
        ConfigurableListableBeanFactory factory = Objects.requireNonNull(beanFactory);
        VirtualThreadBeanPostProcessor postProcessor =
                factory.getBean(VirtualThreadRegistrar.POST_PROCESSOR, VirtualThreadBeanPostProcessor.class);
        EngineSettings known = settings.getIfAvailable();
        EngineSettings given = known == null ? EngineSettings.DEFAULTS : known;
        PoolPermits pools = factory.getBean("virtualThreadPoolPermits", PoolPermits.class);
        List<FurtherCheck> further =
                factory.getBeanProvider(FurtherCheck.class).orderedStream().toList();
        // those of a parent context are checked there
        boolean ownLimits = factory.getParentBeanFactory() == null
                || factory.getBeanNamesForType(TaskLimits.class, true, false).length > 0;
        boolean isShared = ownLimits
                && limits.all().stream().anyMatch(limit -> limit.settings().isShared());
        List<Mistake> mistakes = new ArrayList<>(given.mistakes());
        mistakes.addAll(declaredTwice(factory));
        mistakes.addAll(factory.getBean("virtualThreadLimitFamilies", LimitFamilies.class)
                .mistakes());
        mistakes.addAll(pools.read());
        if (isShared) {
            mistakes.addAll(ClusterCheck.mistakes(
                    factory.getBeanProvider(ClusterEngine.class),
                    given.cluster(),
                    limits.all().stream().map(TaskLimit::settings).toList()));
        }
        mistakes.addAll(unknownDefault(given));
        further.forEach(check -> mistakes.addAll(check.mistakes(limits)));
        Findings findings = postProcessor.check(limits, given.methods());
        mistakes.addAll(findings.mistakes());
        if (given.selfInvocation() == SelfInvocation.FAIL) {
            mistakes.addAll(findings.selfInvocations());
        }
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        if (ownLimits) {
            showAsSpelt(findings);
        }
        postProcessor.start();
        if (postProcessor.isEnabled()) {
            factory.getBean("virtualThreadAdvisedMethods", AdvisedMethods.class).add(findings.methods());
        }
        pools.warnOfOverdraft();
        if (postProcessor.isEnabled() && !findings.methods().isEmpty()) {
            new StatementWarnings(limits, factory)
                    .log(findings.methods(), further.stream().anyMatch(FurtherCheck::givesDeadlines));
        }
        ApplicationDecorators decorators = factory.getBean("virtualThreadDecorators", ApplicationDecorators.class);
        StartupReport report = new StartupReport(given, factory.getBeanClassLoader(), decorators::names);
        report.log(findings, limits, postProcessor.isEnabled(), further);
        if (ownLimits) {
            report.logNumbers(limits, findings.methods());
        }
        if (isShared) {
            warnOfEngine(factory);
        }
    }

    /** If the engine that lends permits to all replicas depends on what their calls use up. */
    private void warnOfEngine(ConfigurableListableBeanFactory beans) {
        if (beans.getBean(ClusterEngine.class) instanceof JdbcClusterEngine engine) {
            new EngineConnections(engine.dataSource(), beans)
                    .warn(
                            limits,
                            beans.containsBean("virtualThreadClusterEngine") // that of the auto-configuration
                                    ? "give the engine a DataSource of its own, by @VirtualThreadDataSource"
                                    : "create the JdbcClusterEngine with a DataSource of its own");
        }
    }

    /** The limits of a parent context have their names already: its meters, which keep them, have been registered. */
    private void showAsSpelt(Findings findings) {
        findings.methods().stream()
                .map(AdvisedMethod::limit)
                .filter(Objects::nonNull)
                .forEach(limits::showAs);
    }

    /**
     * Checked here and not where the limits are created: if a bean cannot be created, Spring reports that in its own words.
     */
    private static List<Mistake> declaredTwice(ConfigurableListableBeanFactory beanFactory) {
        List<Mistake> mistakes = new ArrayList<>();
        Map<String, String> beans = new HashMap<>();
        BeanFactoryUtils.beansOfTypeIncludingAncestors(beanFactory, LimitSettings.class)
                .forEach((bean, limit) -> {
                    String described = "'%s' as %s".formatted(bean, limit);
                    String other = beans.putIfAbsent(LimitNames.uniform(limit.name()), described);
                    if (other != null) {
                        mistakes.add(new Mistake(
                                "Limit '%s' is declared by two beans: %s and %s"
                                        .formatted(limit.name(), other, described),
                                "Remove one of the beans, or give its limit another name."));
                    }
                });
        return mistakes;
    }

    private List<Mistake> unknownDefault(EngineSettings given) {
        String name = given.methods().defaultLimit();
        return name == null || LimitNames.uniform(name).equals(LimitNames.NONE) || limits.contains(name)
                ? List.of()
                : List.of(FurtherCheck.unknownLimit("virtual-thread.default-limit", name, limits));
    }
}
