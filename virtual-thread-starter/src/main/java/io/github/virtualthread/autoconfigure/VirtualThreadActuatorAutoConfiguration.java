package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.actuate.CallCounts;
import io.github.virtualthread.actuate.LimitsHealthIndicator;
import io.github.virtualthread.actuate.VirtualThreadDumpEndpoint;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint;
import io.github.virtualthread.actuate.WebRequests;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.config.AdvisedMethods;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Auto-configuration for Actuator: the endpoints, if they are exposed, and the health of the limits. */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(
        name = "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
public class VirtualThreadActuatorAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadActuatorAutoConfiguration() {}

    /** The endpoint {@code virtualthreads}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class EndpointConfiguration {

        /** Created only if the endpoint is exposed. The counts of a parent with the engine cover its children too. */
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint(endpoint = VirtualThreadsEndpoint.class)
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        CallCounts virtualThreadCallCounts() {
            return new CallCounts();
        }

        @Bean
        @ConditionalOnAvailableEndpoint
        VirtualThreadsEndpoint virtualThreadsEndpoint(
                TaskLimits limits,
                TaskEngine engine,
                AdvisedMethods advised,
                CallCounts counts,
                VirtualThreadProperties properties,
                ObjectProvider<ClusterShares> virtualThreadClusterShares) {
            VirtualThreadProperties.Endpoint shown = properties.endpoint();
            return new VirtualThreadsEndpoint(
                    limits, engine, advised, counts, shown.mdcKeys(), shown.keys(), shown.sql(), () -> {
                        ClusterShares shares = virtualThreadClusterShares.getIfAvailable();
                        return shares == null ? null : shares.member();
                    });
        }

        @Bean
        @ConditionalOnAvailableEndpoint(endpoint = VirtualThreadsEndpoint.class)
        static WebRequests virtualThreadsWebRequests() {
            return new WebRequests();
        }
    }

    /** The endpoint {@code virtualthreaddump}, if the JVM can write a dump. It needs no engine. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.sun.management.HotSpotDiagnosticMXBean")
    static class DumpConfiguration {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        VirtualThreadDumpEndpoint virtualThreadDumpEndpoint() {
            return new VirtualThreadDumpEndpoint();
        }
    }

    /**
     * Health of the limits. Whether it is wanted is known at the start only; otherwise the bean is null, which Spring Boot leaves out.
     * Spring Boot 4 has its health types in another package than Spring Boot 3.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class HealthConfiguration {

        @Bean
        @Nullable
        LimitsHealthIndicator virtualThreadsHealthIndicator(
                TaskLimits limits, Environment environment, ObjectProvider<VirtualThreadProperties> properties) {
            Duration after = SettingsFactory.saturatedAfter(limits, environment, properties);
            return after == null ? null : new LimitsHealthIndicator(limits, after);
        }
    }

    /** The same with Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
    @ConditionalOnMissingClass("org.springframework.boot.health.contributor.HealthIndicator")
    @EnableConfigurationProperties(VirtualThreadProperties.class)
    static class Boot3HealthConfiguration {

        @Bean
        @Nullable
        Boot3LimitsHealthIndicator virtualThreadsHealthIndicator(
                TaskLimits limits, Environment environment, ObjectProvider<VirtualThreadProperties> properties) {
            Duration after = SettingsFactory.saturatedAfter(limits, environment, properties);
            return after == null ? null : new Boot3LimitsHealthIndicator(limits, after);
        }
    }
}
