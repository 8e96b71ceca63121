package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.EngineSettings;
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
import org.springframework.context.annotation.Role;

/**
 * Registers the meters {@code virtual.thread.*} where Micrometer is on the classpath. In a hierarchy of contexts the one with
 * the engine has them.
 */
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
@ConditionalOnBean(value = TaskEngine.class, search = SearchStrategy.CURRENT)
public class VirtualThreadMetersAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadMetersAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskMeters virtualThreadMeters(
            ObjectProvider<MeterRegistry> registries,
            ObjectProvider<TaskEngine> engine,
            ObjectProvider<EngineSettings> virtualThreadSettings) {
        return new TaskMeters(
                registries,
                engine,
                () -> virtualThreadSettings.getObject().watch().stuck());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskListener virtualThreadCallMeters(TaskMeters meters) {
        return meters.calls();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TaskLimitCustomizer virtualThreadLimitMeters(TaskMeters meters) {
        return meters.limits();
    }
}
