package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.actuate.VirtualThreadDumpEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the endpoint {@code virtualthreaddump}, if it is exposed and the JVM can write a dump. It needs no engine. */
@AutoConfiguration
@ConditionalOnClass(
        name = {
            "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint",
            "com.sun.management.HotSpotDiagnosticMXBean"
        })
@ConditionalOnAvailableEndpoint(endpoint = VirtualThreadDumpEndpoint.class)
final class VirtualThreadDumpAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    VirtualThreadDumpEndpoint virtualThreadDumpEndpoint() {
        return new VirtualThreadDumpEndpoint();
    }
}
