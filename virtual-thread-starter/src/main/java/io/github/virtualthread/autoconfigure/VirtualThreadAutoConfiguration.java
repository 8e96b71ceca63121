package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration for {@code @VirtualThread}: enables it and takes the settings of the engine from the properties. */
@AutoConfiguration
@EnableConfigurationProperties(VirtualThreadProperties.class)
@Import(StarterBeans.class)
@Lazy // it has no bean methods
public class VirtualThreadAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadAutoConfiguration() {}
}
