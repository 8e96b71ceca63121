package io.github.virtualthread.docs.observing;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.observation.TaskObservations;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableVirtual
class PlainObservations {

    // example: TracingPlain
    @Bean
    TaskObservations taskObservations(ObservationRegistry registry) {
        return new TaskObservations(() -> registry, () -> null); // null: the default convention
    }
    // end
}
