package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * The same as {@link VirtualThreadHealthAutoConfiguration} with Spring Boot 3.
 */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
@ConditionalOnMissingClass("org.springframework.boot.health.contributor.HealthIndicator")
@ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadBoot3HealthAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadBoot3HealthAutoConfiguration() {}

    @Bean
    @Nullable
    Boot3LimitsHealthIndicator virtualThreadsHealthIndicator(Environment environment, BeanFactory beans) {
        Duration after = SettingsFactory.saturatedAfter(environment, beans);
        return after == null ? null : new Boot3LimitsHealthIndicator(beans.getBean(TaskLimits.class), after);
    }
}
