package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.observation.PinWatch;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration that watches for pins, if a property enables it and the JVM has its flight recorder. In a hierarchy of contexts, only
 * the context with the engine watches, because two would report each pin twice.
 */
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@ConditionalOnProperty(name = "virtual-thread.pinning.enabled", havingValue = "true")
@ConditionalOnClass(name = "jdk.jfr.consumer.RecordingStream")
@ConditionalOnBean(value = VirtualThreadProperties.class, name = BeanNames.ENGINE, search = SearchStrategy.CURRENT)
public class VirtualThreadPinningAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadPinningAutoConfiguration() {}

    /** A destroy method, because a context that fails after its start destroys its beans but does not stop them. */
    @Bean(destroyMethod = "stop")
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
