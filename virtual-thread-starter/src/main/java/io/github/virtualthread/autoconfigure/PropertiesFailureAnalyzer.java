package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.interceptor.PropertyKeys;
import io.github.virtualthread.limit.LimitNames;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConverterNotFoundException;

/** Says in our own words what Spring Boot says of unknown keys and of empty maps, and what to write instead. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertiesFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("virtual-thread");
    private static final ConfigurationPropertyName LIMITS = PREFIX.append("limits");
    private static final ConfigurationPropertyName METHODS = PREFIX.append("methods");

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        if (!PREFIX.equals(cause.getName()) && !PREFIX.isAncestorOf(cause.getName())) {
            return null;
        }
        if (cause.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
            return unknown(List.copyOf(unbound.getUnboundProperties()), cause);
        }
        boolean noConverter = findCause(cause, ConverterNotFoundException.class) != null;
        return noConverter ? empty(cause) : null;
    }

    private static FailureAnalysis unknown(List<ConfigurationProperty> properties, BindException cause) {
        String description = properties.stream()
                .map(property -> "%s is not a property of the virtual-thread starter%s"
                        .formatted(property.getName(), origin(property)))
                .collect(Collectors.joining(System.lineSeparator()));
        String action = properties.stream()
                .map(property -> advice(property.getName()))
                .distinct()
                .collect(Collectors.joining(System.lineSeparator()));
        return new FailureAnalysis(description, action, cause);
    }

    private static String advice(ConfigurationPropertyName name) {
        String last = name.getLastElement(Form.DASHED);
        boolean inLimits = LIMITS.isAncestorOf(name);
        boolean inMethods = METHODS.isAncestorOf(name);
        int depth = name.getNumberOfElements();
        List<String> known = keys(
                inLimits
                        ? VirtualThreadProperties.Limit.class
                        : inMethods ? VirtualThreadProperties.Method.class : recordAt(name));
        if ((inLimits || inMethods) && depth > 4 && known.contains(last)) {
            String dotted = IntStream.range(2, depth - 1)
                    .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                    .collect(Collectors.joining("."));
            return "If the %s is named '%s', write the name in brackets, quoted: %s.%s."
                    .formatted(
                            inLimits ? "limit" : "method",
                            dotted,
                            inLimits ? PropertyKeys.limit(dotted) : PropertyKeys.method(dotted),
                            last);
        }
        return LimitNames.nearest(last, known)
                .map(nearest -> "Did you mean %s?".formatted(name.getParent().append(nearest)))
                .orElseGet(() -> "Remove it, or write one of %s.".formatted(known));
    }

    /** The record whose components are the keys at the level of the name. */
    private static Class<?> recordAt(ConfigurationPropertyName name) {
        Class<?> type = VirtualThreadProperties.class;
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements() - 1; i++) {
            String element = name.getElement(i, Form.DASHED);
            type = Arrays.stream(type.getRecordComponents())
                    .filter(component -> dashed(component).equals(element))
                    .<Class<?>>map(RecordComponent::getType)
                    .filter(Class::isRecord)
                    .findFirst()
                    .orElse(VirtualThreadProperties.class);
        }
        return type;
    }

    private static List<String> keys(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(PropertiesFailureAnalyzer::dashed)
                .toList();
    }

    private static String dashed(RecordComponent component) {
        return DataObjectPropertyName.toDashedForm(component.getName());
    }

    private static @Nullable FailureAnalysis empty(BindException cause) {
        ConfigurationPropertyName name = cause.getName();
        if (LIMITS.equals(name)) {
            return new FailureAnalysis(
                    "%s has a value, but it holds limits, each under its name".formatted(name),
                    "Remove it, or set %s.<name>.permits.".formatted(name),
                    cause);
        }
        if (LIMITS.isParentOf(name)) {
            return new FailureAnalysis(
                    "%s has a value, but a limit has properties, at least permits".formatted(name),
                    "Remove it, or set %s.permits to the most calls that may run at once.".formatted(name),
                    cause);
        }
        return null;
    }

    private static String origin(ConfigurationProperty property) {
        return property.getOrigin() == null ? "" : " (" + property.getOrigin() + ")";
    }
}
