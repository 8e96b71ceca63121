package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.pool.EngineConnections;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The start of an application that uses the engine: checks it, begins, and reports what was found.
 *
 * @param given settings of the engine
 * @param findings what the post-processor has found
 * @param parts what not every application has
 */
record EngineStart(
        ConfigurableListableBeanFactory factory,
        EngineBeans engine,
        EngineSettings given,
        TaskLimits limits,
        Findings findings,
        List<StartupPart> parts) {

    /** Fails the start if something is wrong. */
    void run(VirtualThreadBeanPostProcessor postProcessor) {
        List<Mistake> mistakes = mistakes();
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        begin(postProcessor);
        report(postProcessor.isEnabled());
    }

    /** Also reads the sizes of pools, which give limits their permits. */
    private List<Mistake> mistakes() {
        List<Mistake> mistakes = new ArrayList<>(given.mistakes());
        mistakes.addAll(declaredTwice());
        mistakes.addAll(weighedTwice());
        mistakes.addAll(engine.families().mistakes());
        mistakes.addAll(engine.pools().read());
        if (sharesLimits()) {
            mistakes.addAll(ClusterCheck.mistakes(
                    factory,
                    given.cluster(),
                    limits.all().stream().map(TaskLimit::settings).toList()));
        }
        mistakes.addAll(unknownDefault());
        parts.forEach(part -> mistakes.addAll(part.mistakes(limits)));
        mistakes.addAll(findings.mistakes());
        if (given.selfInvocation() == SelfInvocation.FAIL) {
            mistakes.addAll(findings.selfInvocations());
        }
        return mistakes;
    }

    private void begin(VirtualThreadBeanPostProcessor postProcessor) {
        if (hasOwnLimits()) {
            // those of a parent context have their names already: its meters, which keep them, have been registered
            findings.methods().stream()
                    .map(AdvisedMethod::limit)
                    .filter(Objects::nonNull)
                    .forEach(limits::showAs);
        }
        postProcessor.start();
        if (postProcessor.isEnabled()) {
            engine.add(findings.methods());
        }
    }

    private void report(boolean intercepted) {
        engine.pools().warnOfOverdraft();
        if (intercepted && !findings.methods().isEmpty()) {
            new StatementWarnings(limits, factory)
                    .log(findings.methods(), parts.stream().anyMatch(StartupPart::givesDeadlines));
        }
        StartupReport report = new StartupReport(given, factory.getBeanClassLoader(), engine::decoratorNames);
        report.log(findings, limits, intercepted, parts);
        if (hasOwnLimits()) {
            report.logNumbers(limits, findings.methods());
        }
        if (sharesLimits()) {
            warnOfEngine();
        }
    }

    /** Whether the limits are of this context; those of a parent context are checked there. */
    private boolean hasOwnLimits() {
        return factory.containsBeanDefinition(BeanNames.LIMITS);
    }

    /** Whether limits of this context are shared by all replicas. */
    private boolean sharesLimits() {
        return hasOwnLimits()
                && limits.all().stream().anyMatch(limit -> limit.settings().isShared());
    }

    /** If the engine that lends permits to all replicas depends on what their calls use up. */
    private void warnOfEngine() {
        if (ClusterCheck.engine(factory) instanceof StoredLimits stored
                && stored.store() instanceof JdbcClusterStore database) {
            String remedy = "give the engine a DataSource of its own, by @VirtualThreadDataSource";
            if (ClusterCheck.hasStore(factory)) {
                remedy = "create the JdbcClusterStore with a DataSource of its own";
            }
            new EngineConnections(database.dataSource(), factory).warn(limits, remedy);
        }
    }

    /**
     * Checked here and not where the limits are created: if a bean cannot be created, Spring reports that in its own words.
     */
    private List<Mistake> declaredTwice() {
        List<Mistake> mistakes = new ArrayList<>();
        Map<String, String> beans = new HashMap<>();
        BeanFactoryUtils.beansOfTypeIncludingAncestors(factory, LimitSettings.class)
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

    private List<Mistake> weighedTwice() {
        List<String> weights =
                engine.weights.stream().map(each -> each.getClass().getName()).toList();
        if (weights.size() < 2) {
            return List.of();
        }
        return List.of(new Mistake(
                "There are several beans of type KeyWeight, but one weighs all keys: %s".formatted(weights),
                "Remove all but one of them."));
    }

    private List<Mistake> unknownDefault() {
        String name = given.methods().defaultLimit();
        if (name == null || LimitNames.isNone(name) || limits.contains(name)) {
            return List.of();
        }
        return List.of(StartupPart.unknownLimit("virtual-thread.default-limit", name, limits));
    }
}
