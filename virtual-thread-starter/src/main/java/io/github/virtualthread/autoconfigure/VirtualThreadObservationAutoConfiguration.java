package io.github.virtualthread.autoconfigure;

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
 * Makes each run an observation, if a property asks for it. There is no condition on an {@link ObservationRegistry}: it is
 * looked for at the first call, so that it may come from anywhere and is never made early.
 */
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
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
        // that there is none has to be remembered too: a look-up takes longer than a call
        Supplier<Optional<TaskObservationConvention>> convention =
                SingletonSupplier.of(() -> Optional.ofNullable(conventions.getIfAvailable()));
        return new TaskObservations(registry, () -> convention.get().orElse(null));
    }
}
