package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.VirtualThreadDumpEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The endpoint with the thread dump, where Actuator and a JVM that can write one are there. */
@AutoConfiguration
@ConditionalOnClass(
        name = {
            "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint",
            "com.sun.management.HotSpotDiagnosticMXBean"
        })
public class VirtualThreadDumpAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadDumpAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    VirtualThreadDumpEndpoint virtualThreadDumpEndpoint() {
        return new VirtualThreadDumpEndpoint();
    }
}
