package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.pool.EngineConnections;
import io.github.virtualthread.pool.PoolPermits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;

/**
 * The start-up check of an application that uses the engine.
 *
 * @param given settings of the engine
 */
record EngineCheck(ConfigurableListableBeanFactory factory, EngineSettings given, TaskLimits limits) {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);

    private static final int MOST_NAMES = 5;

    /**
     * Fails the start if something is wrong, and otherwise logs what was found.
     *
     * @param findings what the post-processor has found
     * @param further other checks
     */
    void check(Findings findings, VirtualThreadBeanPostProcessor postProcessor, List<FurtherCheck> further) {
        EngineBeans engine = factory.getBean(BeanNames.ENGINE_BEANS, EngineBeans.class);
        PoolPermits pools = engine.pools();
        // those of a parent context are checked there
        boolean ownLimits = factory.containsBeanDefinition(BeanNames.LIMITS);
        boolean isShared = ownLimits
                && limits.all().stream().anyMatch(limit -> limit.settings().isShared());
        List<Mistake> mistakes = new ArrayList<>(given.mistakes());
        mistakes.addAll(declaredTwice());
        mistakes.addAll(engine.families().mistakes());
        mistakes.addAll(pools.read());
        if (isShared) {
            mistakes.addAll(ClusterCheck.mistakes(
                    factory.getBeanProvider(ClusterEngine.class),
                    given.cluster(),
                    limits.all().stream().map(TaskLimit::settings).toList()));
        }
        mistakes.addAll(unknownDefault());
        further.forEach(check -> mistakes.addAll(check.mistakes(limits)));
        mistakes.addAll(findings.mistakes());
        if (given.selfInvocation() == SelfInvocation.FAIL) {
            mistakes.addAll(findings.selfInvocations());
        }
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        if (ownLimits) {
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
        pools.warnOfOverdraft();
        if (postProcessor.isEnabled() && !findings.methods().isEmpty()) {
            warnOfStatements(findings.methods(), further.stream().anyMatch(FurtherCheck::givesDeadlines));
        }
        StartupReport report = new StartupReport(given, factory.getBeanClassLoader(), engine::decoratorNames);
        report.log(findings, limits, postProcessor.isEnabled(), further);
        if (ownLimits) {
            report.logNumbers(limits, findings.methods());
        }
        if (isShared) {
            warnOfEngine();
        }
    }

    /** If the engine that lends permits to all replicas depends on what their calls use up. */
    private void warnOfEngine() {
        if (factory.getBean(ClusterEngine.class) instanceof JdbcClusterEngine engine) {
            new EngineConnections(engine.dataSource(), factory)
                    .warn(
                            limits,
                            factory.containsBean(BeanNames.CLUSTER_ENGINE)
                                    ? "give the engine a DataSource of its own, by @VirtualThreadDataSource"
                                    : "create the JdbcClusterEngine with a DataSource of its own");
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

    private List<Mistake> unknownDefault() {
        String name = given.methods().defaultLimit();
        return name == null || LimitNames.isNone(name) || limits.contains(name)
                ? List.of()
                : List.of(FurtherCheck.unknownLimit("virtual-thread.default-limit", name, limits));
    }

    /**
     * Warns, once for each limit, that a timeout or a deadline closes connections while the database goes on.
     *
     * @param deadlines whether a call may have a deadline that its method does not set
     */
    private void warnOfStatements(List<AdvisedMethod> methods, boolean deadlines) {
        Map<TaskLimit, List<String>> interrupted = new LinkedHashMap<>();
        for (AdvisedMethod method : methods) {
            TaskLimit limit = PoolPermits.drawing(method.limit() == null ? null : limits.get(method.limit()));
            if (limit != null
                    && !method.limited()
                    && (deadlines || method.timeout() != null || method.deadline() != null)) {
                interrupted.computeIfAbsent(limit, first -> new ArrayList<>()).add(method.name());
            }
        }
        interrupted.forEach(this::warnOfStatements);
    }

    private void warnOfStatements(TaskLimit limit, List<String> names) {
        PermitsFrom from = limit.permitsFrom();
        if (from != null
                && factory.getBean(from.bean()) instanceof DataSource pool
                && !(pool instanceof PermitsSource)
                && !HikariStatements.isCovered(pool)) {
            logger.warn(
                    "Calls under limit '{}' ({}) are interrupted when their timeout or deadline passes: that closes their"
                            + " connection, and the database goes on with the query. {}",
                    limit.name(),
                    shown(names),
                    remedy(from.bean()));
        }
    }

    private static String shown(List<String> names) {
        int left = names.size() - MOST_NAMES;
        return left <= 1
                ? String.join(", ", names)
                : "%s and %d more".formatted(String.join(", ", names.subList(0, MOST_NAMES)), left);
    }

    private String remedy(String pool) {
        if (factory instanceof AbstractBeanFactory known
                && known.getBeanPostProcessors().stream().anyMatch(HikariStatements.class::isInstance)) {
            return "Put a CancellableDataSource below the pool of bean '%s', because HikariStatements could not reach it"
                    .formatted(pool);
        }
        return factory.containsBean(BeanNames.SETTINGS)
                ? "Set virtual-thread.jdbc.cancel-statements=true"
                : "Declare a static @Bean method that returns a HikariStatements";
    }
}
