package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.LimitsHealthIndicator;
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
 * Auto-configuration for the health of the limits. Whether it is wanted is known at the start only; otherwise the bean is null, which
 * Spring Boot leaves out. Spring Boot 4 has its health types in another package than Spring Boot 3.
 */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
@ConditionalOnBean(name = {BeanNames.ENGINE, BeanNames.SETTINGS})
@Lazy
final class VirtualThreadHealthAutoConfiguration {

    @Bean
    @Nullable
    static LimitsHealthIndicator virtualThreadsHealthIndicator(Environment environment, BeanFactory beans) {
        Duration after = SettingsFactory.saturatedAfter(environment, beans);
        return after == null ? null : new LimitsHealthIndicator(beans.getBean(TaskLimits.class), after);
    }
}
