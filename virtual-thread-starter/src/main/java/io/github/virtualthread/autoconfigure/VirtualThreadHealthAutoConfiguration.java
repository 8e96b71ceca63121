package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.actuate.LimitsHealthIndicator;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Health of the limits, where {@code virtual-thread.health.saturated-after} is set. Spring Boot 4 has the types of health in
 * another package than Spring Boot 3.
 */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@Conditional(VirtualThreadHealthAutoConfiguration.OnSaturatedAfter.class)
@ConditionalOnBean(TaskLimits.class)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadHealthAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadHealthAutoConfiguration() {}

    /** Where the condition was looked at ahead of time, the start may not set it: then no limit is ever full for too long. */
    private static Duration saturatedAfter(VirtualThreadProperties properties) {
        Duration set = properties.health().saturatedAfter();
        return set == null ? ChronoUnit.FOREVER.getDuration() : set;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class SpringBoot4 {

        @Bean
        LimitsHealthIndicator virtualThreadsHealthIndicator(TaskLimits limits, VirtualThreadProperties properties) {
            return new LimitsHealthIndicator(limits, saturatedAfter(properties));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
    @ConditionalOnMissingClass("org.springframework.boot.health.contributor.HealthIndicator")
    static class SpringBoot3 {

        @Bean
        Boot3LimitsHealthIndicator virtualThreadsHealthIndicator(
                TaskLimits limits, VirtualThreadProperties properties) {
            return new Boot3LimitsHealthIndicator(limits, saturatedAfter(properties));
        }
    }

    /** A blank value counts as not set. */
    static final class OnSaturatedAfter extends SpringBootCondition {

        private static final String KEY = "virtual-thread.health.saturated-after";

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            boolean set = StringUtils.hasText(context.getEnvironment().getProperty(KEY));
            ConditionMessage message = ConditionMessage.forCondition(KEY).because(set ? "it is set" : "it is not set");
            return new ConditionOutcome(set, message);
        }
    }
}
