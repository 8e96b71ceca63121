package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.properties.StarterKeys.LIMITS;
import static io.github.virtualthread.autoconfigure.properties.StarterKeys.METHODS;
import static io.github.virtualthread.autoconfigure.properties.StarterKeys.PREFIX;

import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ObjectUtils;
import org.springframework.util.StringUtils;

/** Describes what is wrong with one property: its key is unknown, or its value has the wrong type. */
final class PropertyMistakes {

    /** Limits without names. */
    static final Mistake LIST = new Mistake(
            "%s is a list, but must contain limits by name".formatted(LIMITS),
            "Write the name of each limit as a key, as in %s.db.permits; put a name that is a number in quotes."
                    .formatted(LIMITS));

    /** Numbers of something that is of no use with none of it, beside those of {@link LimitNumber}. */
    private static final Set<String> AT_LEAST_ONE = Set.of("least", "most", "replicas");

    private static final String DURATION = "Write a number with a unit, such as 500ms, 2s or 1m.";

    private PropertyMistakes() {}

    /** File and line, or environment variable, that a property comes from; empty if that is unknown. */
    static String origin(@Nullable ConfigurationProperty property) {
        return property == null || property.getOrigin() == null ? "" : " (" + property.getOrigin() + ")";
    }

    static Mistake unknownKey(ConfigurationProperty property) {
        return new Mistake(
                "%s is not a property of the virtual-thread starter%s".formatted(property.getName(), origin(property)),
                meant(property.getName()));
    }

    private static String meant(ConfigurationPropertyName name) {
        String last = name.getLastElement(Form.DASHED);
        boolean inLimits = LIMITS.isAncestorOf(name);
        boolean inMethods = METHODS.isAncestorOf(name);
        int depth = name.getNumberOfElements();
        int wrong = PREFIX.getNumberOfElements(); // the first element that is not known, or the last
        while (wrong < depth - 1 && isKnown(name.chop(wrong + 1))) {
            wrong++;
        }
        ConfigurationPropertyName above = name.chop(wrong);
        ConfigurationPropertyName below = name.subName(wrong + 1);
        Class<?> parent = type(above);
        List<String> known = keys(parent == null || !parent.isRecord() ? VirtualThreadProperties.class : parent);
        if ((inLimits || inMethods) && depth > 4 && known.contains(last)) {
            String dotted = IntStream.range(2, depth - 1)
                    .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                    .collect(Collectors.joining("."));
            return "If the %s is named '%s', put the name in brackets and quotes: %s.%s."
                    .formatted(
                            inLimits ? "limit" : "method",
                            dotted,
                            inLimits ? PropertyKeys.limit(dotted) : PropertyKeys.method(dotted),
                            last);
        }
        return Spelling.nearest(name.getElement(wrong, Form.DASHED), known)
                .map(nearest ->
                        "Did you mean %s?".formatted(above.append(nearest).append(below)))
                .orElseGet(() -> "Remove it, or use one of %s.".formatted(known));
    }

    /** Whether the key is a property of the starter, or has properties below it. */
    static boolean isKnown(ConfigurationPropertyName name) {
        return type(name) != null;
    }

    /** Whether the key is a property of the starter that has a value. */
    static boolean isValue(ConfigurationPropertyName name) {
        Class<?> type = type(name);
        return type != null && !type.isRecord();
    }

    /** The type of the property with that key, a record if it has properties below it; null for an unknown key. */
    private static @Nullable Class<?> type(ConfigurationPropertyName name) {
        Class<?> type = VirtualThreadProperties.class;
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            RecordComponent component = component(type, name.getElement(i, Form.UNIFORM));
            if (component == null) {
                return null;
            }
            type = component.getType();
            if (type == Map.class) {
                type = ResolvableType.forType(component.getGenericType()).resolveGeneric(1);
                i++; // the name of the limit, the method or the bean
            }
        }
        return type;
    }

    /** The component with that name in its uniform form; null also if the type is not a record. */
    static @Nullable RecordComponent component(Class<?> type, String uniform) {
        if (type.isRecord()) {
            for (RecordComponent component : type.getRecordComponents()) {
                if (component.getName().toLowerCase(Locale.ROOT).equals(uniform)) {
                    return component;
                }
            }
        }
        return null;
    }

    /** The keys of a record of properties. */
    static List<String> keys(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(component -> DataObjectPropertyName.toDashedForm(component.getName()))
                .toList();
    }

    static Mistake wrongValue(
            ConfigurationPropertyName failed,
            Bindable<?> target,
            @Nullable ConfigurationProperty property,
            Exception error) {
        ConfigurationPropertyName name = spelt(failed);
        Class<?> type = target.getType().resolve(Object.class);
        Mistake mistake = null;
        if (type.isRecord() || type == Map.class) {
            boolean isBlank = property == null || ObjectUtils.isEmpty(property.getValue());
            mistake = noValue(name, type, isBlank ? "is empty" : "has a value");
        } else if (property != null) {
            mistake = otherValue(name, type, property.getValue().toString());
        }
        if (mistake == null) {
            String cause = NestedExceptionUtils.getMostSpecificCause(error).toString();
            String description = StringUtils.trimTrailingCharacter(cause, '.'); // the action follows after another
            mistake = new Mistake("%s cannot be read: %s".formatted(name, description), "Correct its value.");
        }
        return new Mistake(mistake.description() + origin(property), mistake.action());
    }

    static Mistake withoutUnit(ConfigurationPropertyName name, ConfigurationProperty property, String value) {
        return new Mistake(
                "%s must be a duration with a unit, was '%s'%s".formatted(spelt(name), value, origin(property)),
                DURATION);
    }

    /** Restores the prefix, which is {@code virtualthread} for an environment variable. */
    private static ConfigurationPropertyName spelt(ConfigurationPropertyName name) {
        return PREFIX.append(name.subName(PREFIX.getNumberOfElements()));
    }

    private static Mistake noValue(ConfigurationPropertyName name, Class<?> type, String state) {
        if (LIMITS.equals(name)) {
            return mustContain("limits by name", name, state, name + ".<name>.permits");
        }
        if (METHODS.equals(name)) {
            return mustContain("methods by name", name, state, PropertyKeys.method("com.acme.Mailer.send") + ".limit");
        }
        if (LIMITS.isParentOf(name)) {
            String key = name.getLastElement(Form.DASHED);
            if (keys(type).contains(key)) {
                return new Mistake(
                        "%s %s, but %s is a property of a limit and belongs below its name".formatted(name, state, key),
                        "Move it below the name of a limit: %s.<name>.%s.".formatted(LIMITS, key));
            }
            return new Mistake(
                    "%s %s, but a limit needs properties, at least permits, permits-from or cluster-permits"
                            .formatted(name, state),
                    "Remove it, or set %s.permits to the maximum number of concurrent calls.".formatted(name));
        }
        if (type != Map.class) {
            return mustContain("properties", name, state, "one of %s below it".formatted(keys(type)));
        }
        if (LIMITS.isAncestorOf(name)) {
            return mustContain("weights by key", name, state, name + ".gold to a number such as 3");
        }
        return mustContain("executor beans by name", name, state, name + ".mailExecutor to the name of a limit");
    }

    private static Mistake mustContain(String what, ConfigurationPropertyName name, String state, String example) {
        return new Mistake(
                "%s %s, but must contain %s".formatted(name, state, what), "Remove it, or set %s.".formatted(example));
    }

    private static @Nullable Mistake otherValue(ConfigurationPropertyName name, Class<?> type, String value) {
        if (type == Integer.class) {
            return mustBe(
                    "a whole number from %d to %d"
                            .formatted(least(name.getLastElement(Form.DASHED)), Integer.MAX_VALUE),
                    name,
                    value,
                    "Set %s to a number such as 20.".formatted(name));
        }
        if (type == int.class) {
            return mustBe("a whole number", name, value, "Set %s to a number such as -110.".formatted(name));
        }
        if (type == Duration.class) {
            return mustBe("a duration such as 2s", name, value, DURATION);
        }
        if (type == Double.class) {
            return mustBe("a number from 0.1 to 10", name, value, "Set %s to a number such as 3.".formatted(name));
        }
        if (type == boolean.class || type == Boolean.class) {
            return mustBe("true or false", name, value, "Write true or false.");
        }
        return type.isEnum() ? oneOf(type, name, value) : null;
    }

    private static int least(String key) {
        return Arrays.stream(LimitNumber.values())
                .filter(number -> number.key().equals(key))
                .findFirst()
                .map(LimitNumber::least)
                .orElse(AT_LEAST_ONE.contains(key) ? 1 : 0);
    }

    private static Mistake mustBe(String rule, ConfigurationPropertyName name, String value, String action) {
        String remedy = action;
        if (value.contains("${")) { // Spring Boot leaves a placeholder without a value as it is
            remedy = "Set the property that the placeholder names, or give it a default, as in ${name:default}.";
        }
        return new Mistake("%s must be %s, was '%s'".formatted(name, rule, value), remedy);
    }

    /** A value of an enum, as it is written in a property. */
    static String text(Object value) {
        return value.toString().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Mistake oneOf(Class<?> type, ConfigurationPropertyName name, String value) {
        List<String> allowed = Arrays.stream(type.getEnumConstants())
                .map(PropertyMistakes::text)
                .toList();
        return mustBe(
                "one of " + allowed,
                name,
                value,
                Spelling.meant(value, allowed, "Write one of %s.".formatted(allowed)));
    }
}
