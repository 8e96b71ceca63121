package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.PropertiesBinding.LIMITS;
import static io.github.virtualthread.autoconfigure.PropertiesBinding.METHODS;
import static io.github.virtualthread.autoconfigure.PropertiesBinding.PREFIX;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/** Keys that are no properties of ours, and which were meant. */
final class UnknownKeys {

    private UnknownKeys() {}

    static Mistake mistake(ConfigurationProperty property) {
        return new Mistake(
                "%s is not a property of the virtual-thread starter%s"
                        .formatted(property.getName(), PropertiesBinding.origin(property)),
                advice(property.getName()));
    }

    /** Whether a property of ours has that key, or some property is below it. */
    static boolean isKnown(ConfigurationPropertyName name) {
        Class<?> type = VirtualThreadProperties.class;
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            RecordComponent component = component(type, name.getElement(i, Form.UNIFORM));
            if (component == null) {
                return false;
            }
            type = component.getType();
            if (type == Map.class) {
                type = component.getName().equals("limits")
                        ? VirtualThreadProperties.Limit.class
                        : VirtualThreadProperties.Method.class;
                i++; // the name of the limit or the method
            }
        }
        return true;
    }

    private static @Nullable RecordComponent component(Class<?> type, String uniform) {
        if (type.isRecord()) {
            for (RecordComponent component : type.getRecordComponents()) {
                if (component.getName().toLowerCase(Locale.ROOT).equals(uniform)) {
                    return component;
                }
            }
        }
        return null;
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
        return Spelling.nearest(last, known)
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

    /** The keys that a record of properties has. */
    static List<String> keys(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(UnknownKeys::dashed)
                .toList();
    }

    private static String dashed(RecordComponent component) {
        return DataObjectPropertyName.toDashedForm(component.getName());
    }
}
