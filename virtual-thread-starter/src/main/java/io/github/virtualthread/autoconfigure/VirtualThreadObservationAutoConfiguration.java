package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.observation.TaskObservationConvention;
import io.github.virtualthread.observation.TaskObservations;
import io.micrometer.observation.ObservationRegistry;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration that makes each run an observation, if a property enables it. There is no condition on an {@link
 * ObservationRegistry}: it is looked up at the first call, so that any bean may provide it and it is never created early.
 */
@Internal
@AutoConfiguration
@ConditionalOnClass(name = "io.micrometer.observation.ObservationRegistry")
@ConditionalOnProperty(name = "virtual-thread.observation.enabled", havingValue = "true")
public class VirtualThreadObservationAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadObservationAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    TaskObservations virtualThreadObservations(
            ObjectProvider<ObservationRegistry> registries, ObjectProvider<TaskObservationConvention> conventions) {
        Supplier<ObservationRegistry> registry =
                SingletonSupplier.of(() -> registries.getIfAvailable(() -> ObservationRegistry.NOOP));
        // the absence is cached too, because a look-up takes longer than a call
        Supplier<Optional<TaskObservationConvention>> convention =
                SingletonSupplier.of(() -> Optional.ofNullable(conventions.getIfAvailable()));
        return new TaskObservations(registry, () -> convention.get().orElse(null));
    }
}
