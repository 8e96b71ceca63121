package io.github.virtualthread.autoconfigure;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;

/** Says in our own words what Spring Boot says of properties that it cannot bind, and what to write instead. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertiesFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("virtual-thread");
    static final ConfigurationPropertyName LIMITS = PREFIX.append("limits");
    static final ConfigurationPropertyName METHODS = PREFIX.append("methods");

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        if (!PREFIX.equals(cause.getName()) && !PREFIX.isAncestorOf(cause.getName())) {
            return null;
        }
        if (cause.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
            return UnknownKeys.report(List.copyOf(unbound.getUnboundProperties()), cause);
        }
        return findCause(cause, ConversionException.class) == null ? null : WrongValues.report(cause);
    }

    /** File and line, or the environment variable, that a property comes from. */
    static String origin(@Nullable ConfigurationProperty property) {
        return property == null || property.getOrigin() == null ? "" : " (" + property.getOrigin() + ")";
    }
}
