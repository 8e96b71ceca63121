package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.observation.PinWatch;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/** Watches for pins, where {@code virtual-thread.pinning.enabled} is set and the JVM has its flight recorder. */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnProperty("virtual-thread.pinning.enabled")
@ConditionalOnClass(name = "jdk.jfr.consumer.RecordingStream")
public class VirtualThreadPinningAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadPinningAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    PinWatch virtualThreadPinWatch(
            VirtualThreadProperties properties,
            EngineSettings settings,
            TaskEngine engine,
            ObjectProvider<TaskListener> listeners) {
        return new PinWatch(
                properties.pinning().threshold(), settings.threadNamePrefix(), engine.liveCalls(), listeners);
    }
}
