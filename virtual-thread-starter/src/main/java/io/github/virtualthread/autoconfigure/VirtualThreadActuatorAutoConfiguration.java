package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.actuate.CallCounts;
import io.github.virtualthread.actuate.CallDetails;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint;
import io.github.virtualthread.actuate.WebRequests;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimits;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/** Auto-configuration for Actuator: the endpoint {@code virtualthreads}, if it is exposed. */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnClass(
        name = "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
@ConditionalOnAvailableEndpoint(endpoint = VirtualThreadsEndpoint.class)
@ConditionalOnBean(name = BeanNames.ENGINE)
@EnableConfigurationProperties(VirtualThreadProperties.class)
public class VirtualThreadActuatorAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadActuatorAutoConfiguration() {}

    /** The counts of a parent with the engine cover its children too. */
    @Bean
    @ConditionalOnMissingBean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    CallCounts virtualThreadCallCounts() {
        return new CallCounts();
    }

    @Bean
    VirtualThreadsEndpoint virtualThreadsEndpoint(
            TaskLimits limits,
            TaskEngine engine,
            EngineBeans beans,
            CallCounts counts,
            VirtualThreadProperties properties,
            ObjectProvider<ClusterShares> virtualThreadClusterShares) {
        VirtualThreadProperties.Endpoint shown = properties.endpoint();
        CallDetails details = new CallDetails(shown.mdcKeys(), shown.keys(), shown.sql());
        return new VirtualThreadsEndpoint(limits, engine, beans.advised(), counts, details, () -> {
            ClusterShares shares = virtualThreadClusterShares.getIfAvailable();
            return shares == null ? null : shares.member();
        });
    }

    @Bean
    static WebRequests virtualThreadsWebRequests() {
        return new WebRequests();
    }
}
