package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.CallCounts;
import io.github.virtualthread.actuate.KnownParameters;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint;
import io.github.virtualthread.actuate.VirtualThreadsWebExtension;
import io.github.virtualthread.config.AdvisedMethods;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimits;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/** The endpoint {@code virtualthreads}, where Actuator is there and the endpoint exposed. */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(
        name = "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
@ConditionalOnBean(TaskEngine.class)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadEndpointAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadEndpointAutoConfiguration() {}

    /** Nothing is counted where nobody can see it. Those of a parent, which has the engine, count for its children too. */
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
            VirtualThreadProperties properties) {
        return new VirtualThreadsEndpoint(
                limits, engine, advised, counts, properties.endpoint().mdcKeys());
    }

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = VirtualThreadsEndpoint.class)
    static KnownParameters virtualThreadsKnownParameters() {
        return new KnownParameters();
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    VirtualThreadsWebExtension virtualThreadsWebExtension(VirtualThreadsEndpoint endpoint) {
        return new VirtualThreadsWebExtension(endpoint);
    }
}
