package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.config.TaskEngineLifecycle;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.observation.TaskMeters;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration for the meters {@code virtual.thread.*}, if Micrometer is on the classpath. They are made when the first limit or
 * the first call asks for them. In a hierarchy of contexts, the context with the engine has them.
 */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
@ConditionalOnBean(name = BeanNames.ENGINE, search = SearchStrategy.CURRENT)
@Lazy
public class VirtualThreadMetricsAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadMetricsAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskMeters virtualThreadMeters(
            ObjectProvider<MeterRegistry> registries,
            ObjectProvider<TaskEngine> engine,
            EngineSettings virtualThreadSettings,
            ObjectProvider<ClusterShares> virtualThreadClusterShares,
            TaskEngineLifecycle virtualThreadEngineLifecycle) {
        TaskMeters meters =
                new TaskMeters(registries, engine, virtualThreadSettings.stuckAfter(), virtualThreadClusterShares);
        virtualThreadEngineLifecycle.add(meters::start, () -> {});
        return meters;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskListener virtualThreadCallMeters(TaskMeters meters) {
        return meters.calls();
    }

    @Bean
    @Conditional(StatementsSwitch.OnStatements.class)
    @Lazy(false)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskListener virtualThreadStatementMeters(TaskMeters meters) {
        return meters.statements();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskLimitCustomizer virtualThreadLimitMeters(TaskMeters meters) {
        return meters.limits();
    }
}
