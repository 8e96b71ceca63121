package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.VirtualThreadRegistrar;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;

/** Auto-configuration for {@code @VirtualThread}: enables it and takes the settings of the engine from the properties. */
@AutoConfiguration
@EnableConfigurationProperties(VirtualThreadProperties.class)
@Import(StarterBeans.class)
public class VirtualThreadAutoConfiguration {

    /** Name of the engine, where there is one. Conditions look for it: for a type, Spring would ask all beans for theirs. */
    static final String ENGINE = VirtualThreadRegistrar.ENGINE;

    /** Created by Spring. */
    public VirtualThreadAutoConfiguration() {}
}
