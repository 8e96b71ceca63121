package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.properties.PropertiesBinding;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Leaves out what a property switches on, if no property of the starter is set: Spring need not read these classes to find that their
 * conditions do not match.
 */
final class UnsetFeatures implements AutoConfigurationImportFilter, EnvironmentAware {

    /** By name: their classes are not loaded. */
    private static final Set<String> FEATURES = Set.of(
            "io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration",
            "io.github.virtualthread.autoconfigure.VirtualThreadClientAutoConfiguration",
            "io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration",
            "io.github.virtualthread.autoconfigure.VirtualThreadObservationAutoConfiguration",
            "io.github.virtualthread.autoconfigure.VirtualThreadPinningAutoConfiguration");

    private @Nullable Environment environment;

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
        boolean[] matches = new boolean[autoConfigurations.length];
        for (int i = 0; i < matches.length; i++) {
            String name = autoConfigurations[i];
            matches[i] = name == null || !FEATURES.contains(name) || mayBeSet();
        }
        return matches;
    }

    /** Not before it is asked: a class that is imported after Spring Boot made this may bring a source of properties. */
    private boolean mayBeSet() {
        return PropertiesBinding.isAheadOfTime()
                || !(environment instanceof ConfigurableEnvironment configurable)
                || PropertiesBinding.isAnySet(configurable.getPropertySources());
    }
}
