package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.autoconfigure.properties.SettingsFactory;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * The same as {@link VirtualThreadHealthAutoConfiguration} with Spring Boot 3.
 */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
@ConditionalOnBean(name = {BeanNames.ENGINE, BeanNames.SETTINGS})
@Lazy
final class VirtualThreadBoot3HealthAutoConfiguration {

    @Bean
    @Nullable
    static Boot3LimitsHealthIndicator virtualThreadsHealthIndicator(Environment environment, BeanFactory beans) {
        Duration after = SettingsFactory.saturatedAfter(environment, beans);
        return after == null ? null : new Boot3LimitsHealthIndicator(beans.getBean(TaskLimits.class), after);
    }
}
