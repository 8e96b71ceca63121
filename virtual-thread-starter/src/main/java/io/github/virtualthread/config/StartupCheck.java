package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.pool.PoolPermits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Fails the start with one exception that lists every mistake. If there is none, logs one line that says what was found. */
final class StartupCheck implements SmartInitializingSingleton {

    private final VirtualThreadBeanPostProcessor postProcessor;
    private final ObjectProvider<EngineSettings> settings;
    private final LimitFamilies families;
    private final TaskLimits limits;
    private final PoolPermits pools;
    private final AdvisedMethods advised;
    private final ApplicationDecorators decorators;
    private final ObjectProvider<FurtherCheck> furtherChecks;
    private final ConfigurableListableBeanFactory beanFactory;

    /** The parameters have the names of their beans, see {@link EngineConfiguration}. */
    StartupCheck(
            VirtualThreadBeanPostProcessor postProcessor,
            ObjectProvider<EngineSettings> virtualThreadSettings,
            LimitFamilies virtualThreadLimitFamilies,
            TaskLimits virtualThreadLimits,
            PoolPermits virtualThreadPoolPermits,
            AdvisedMethods virtualThreadAdvisedMethods,
            ApplicationDecorators virtualThreadDecorators,
            ObjectProvider<FurtherCheck> furtherChecks,
            ConfigurableListableBeanFactory beanFactory) {
        this.postProcessor = postProcessor;
        this.settings = virtualThreadSettings;
        this.families = virtualThreadLimitFamilies;
        this.limits = virtualThreadLimits;
        this.pools = virtualThreadPoolPermits;
        this.advised = virtualThreadAdvisedMethods;
        this.decorators = virtualThreadDecorators;
        this.furtherChecks = furtherChecks;
        this.beanFactory = beanFactory;
    }

    @Override
    public void afterSingletonsInstantiated() {
        EngineSettings given = settings.getIfAvailable(() -> EngineSettings.DEFAULTS);
        List<Mistake> mistakes = new ArrayList<>(given.mistakes());
        mistakes.addAll(declaredTwice());
        mistakes.addAll(families.mistakes());
        mistakes.addAll(pools.read());
        mistakes.addAll(clusterMistakes(given));
        mistakes.addAll(unknownDefault(given));
        furtherChecks.orderedStream().forEach(check -> mistakes.addAll(check.mistakes(limits)));
        Findings findings = postProcessor.check(limits, given.methods());
        mistakes.addAll(findings.mistakes());
        if (given.selfInvocation() == SelfInvocation.FAIL) {
            mistakes.addAll(findings.selfInvocations());
        }
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        showAsSpelt(findings);
        postProcessor.start();
        if (postProcessor.isEnabled()) {
            advised.add(findings.methods());
        }
        pools.warnOfOverdraft();
        if (postProcessor.isEnabled()) {
            new StatementWarnings(limits, beanFactory)
                    .log(findings.methods(), furtherChecks.stream().anyMatch(FurtherCheck::givesDeadlines));
        }
        StartupReport report = new StartupReport(given, beanFactory.getBeanClassLoader(), decorators.names());
        report.log(findings, limits, postProcessor.isEnabled());
        if (hasOwnLimits()) {
            report.logNumbers(limits, findings.methods());
        }
    }

    /** The limits of a parent context have their names already: its meters, which keep them, have been registered. */
    private void showAsSpelt(Findings findings) {
        if (hasOwnLimits()) {
            findings.methods().stream()
                    .map(AdvisedMethod::limit)
                    .filter(Objects::nonNull)
                    .forEach(limits::showAs);
        }
    }

    private boolean hasOwnLimits() {
        return beanFactory.getBeanNamesForType(TaskLimits.class, true, false).length > 0;
    }

    /**
     * Checked here and not where the limits are created: if a bean cannot be created, Spring reports that in its own words.
     */
    private List<Mistake> declaredTwice() {
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

    /** Limits of a parent context are checked there. */
    private List<Mistake> clusterMistakes(EngineSettings given) {
        List<LimitSettings> shared = limits.all().stream()
                .map(TaskLimit::settings)
                .filter(LimitSettings::isShared)
                .toList();
        return shared.isEmpty() || !hasOwnLimits()
                ? List.of()
                : new ClusterCheck(beanFactory.getBeanProvider(ClusterEngine.class), given.cluster()).mistakes(shared);
    }

    private List<Mistake> unknownDefault(EngineSettings given) {
        String name = given.methods().defaultLimit();
        if (name == null || LimitNames.uniform(name).equals(LimitNames.NONE) || limits.contains(name)) {
            return List.of();
        }
        return List.of(FurtherCheck.unknownLimit("virtual-thread.default-limit", name, limits));
    }
}
