package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.observation.PinWatch;
import io.github.virtualthread.observation.TaskMeters;
import io.github.virtualthread.observation.TaskObservationConvention;
import io.github.virtualthread.observation.TaskObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/** Auto-configuration for measurements: meters and observations, if Micrometer is on the classpath, and pins. */
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
public class VirtualThreadMetricsAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadMetricsAutoConfiguration() {}

    /** The meters {@code virtual.thread.*}. In a hierarchy of contexts, the context with the engine has them. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
    @ConditionalOnBean(name = VirtualThreadAutoConfiguration.ENGINE, search = SearchStrategy.CURRENT)
    static class MetersConfiguration {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TaskMeters virtualThreadMeters(
                ObjectProvider<MeterRegistry> registries,
                ObjectProvider<TaskEngine> engine,
                ObjectProvider<EngineSettings> virtualThreadSettings,
                ObjectProvider<ClusterShares> virtualThreadClusterShares) {
            return new TaskMeters(
                    registries,
                    engine,
                    () -> virtualThreadSettings.getObject().watch().stuck(),
                    virtualThreadClusterShares);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TaskListener virtualThreadCallMeters(TaskMeters meters) {
            return meters.calls();
        }

        @Bean
        @Conditional(StatementsSwitch.OnStatements.class)
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TaskListener virtualThreadStatementMeters(TaskMeters meters) {
            return meters.statements();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TaskLimitCustomizer virtualThreadLimitMeters(TaskMeters meters) {
            return meters.limits();
        }
    }

    /**
     * Makes each run an observation, if a property enables it. There is no condition on an {@link ObservationRegistry}: it is
     * looked up at the first call, so that any bean may provide it and it is never created early.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "io.micrometer.observation.ObservationRegistry")
    @ConditionalOnProperty(name = "virtual-thread.observation.enabled", havingValue = "true")
    static class ObservationsConfiguration {

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

    /**
     * Watches for pins, if a property enables it and the JVM has its flight recorder. In a hierarchy of contexts, only the
     * context with the engine watches, because two would report each pin twice.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "virtual-thread.pinning.enabled", havingValue = "true")
    @ConditionalOnClass(name = "jdk.jfr.consumer.RecordingStream")
    @ConditionalOnBean(
            value = VirtualThreadProperties.class,
            name = VirtualThreadAutoConfiguration.ENGINE,
            search = SearchStrategy.CURRENT)
    static class PinsConfiguration {

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
}
