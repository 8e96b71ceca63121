package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.PropertiesBinding.LIMITS;
import static io.github.virtualthread.autoconfigure.PropertiesBinding.METHODS;
import static io.github.virtualthread.autoconfigure.PropertiesBinding.PREFIX;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ObjectUtils;

/** Values of another type than their key has, and values where only keys should be. */
final class WrongValues {

    private static final String DURATION = "Write a number with a unit, as in 500ms, 2s or 1m.";

    private WrongValues() {}

    static Mistake mistake(
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
            mistake = new Mistake(
                    "%s cannot be read: %s".formatted(name, NestedExceptionUtils.getMostSpecificCause(error)),
                    "Correct its value.");
        }
        return new Mistake(mistake.description() + PropertiesBinding.origin(property), mistake.action());
    }

    static Mistake withoutUnit(ConfigurationPropertyName name, ConfigurationProperty property, String value) {
        return new Mistake(
                "%s must be a duration with its unit, was '%s'%s"
                        .formatted(spelt(name), value, PropertiesBinding.origin(property)),
                DURATION);
    }

    /** An environment variable makes the prefix {@code virtualthread}. */
    private static ConfigurationPropertyName spelt(ConfigurationPropertyName name) {
        return PREFIX.append(name.subName(PREFIX.getNumberOfElements()));
    }

    private static Mistake noValue(ConfigurationPropertyName name, Class<?> type, String state) {
        if (LIMITS.equals(name)) {
            return new Mistake(
                    "%s %s, but it holds limits, each under its name".formatted(name, state),
                    "Remove it, or set %s.<name>.permits.".formatted(name));
        }
        if (METHODS.equals(name)) {
            return new Mistake(
                    "%s %s, but it holds methods, each under its name".formatted(name, state),
                    "Remove it, or set %s.limit.".formatted(PropertyKeys.method("com.acme.Mailer.send")));
        }
        if (LIMITS.isParentOf(name)) {
            String key = name.getLastElement(Form.DASHED);
            return UnknownKeys.keys(type).contains(key)
                    ? new Mistake(
                            "%s %s, but %s is a property of a limit, and stands below its name"
                                    .formatted(name, state, key),
                            "Move it below the name of a limit: %s.<name>.%s.".formatted(LIMITS, key))
                    : new Mistake(
                            "%s %s, but a limit has properties, at least permits or permits-from"
                                    .formatted(name, state),
                            "Remove it, or set %s.permits to the most calls that may run at once.".formatted(name));
        }
        return new Mistake(
                "%s %s, but it holds properties".formatted(name, state),
                "Remove it, or set one of %s below it.".formatted(UnknownKeys.keys(type)));
    }

    private static @Nullable Mistake otherValue(ConfigurationPropertyName name, Class<?> type, String value) {
        Text rule = rule(name, type, value);
        if (rule == null) {
            return null;
        }
        // Spring Boot leaves a placeholder in place that it finds no value for
        String action = value.contains("${")
                ? "Set the property in the placeholder, or write a default into it, as in ${name:default}."
                : rule.action();
        return new Mistake("%s must be %s, was '%s'".formatted(name, rule.description(), value), action);
    }

    private static @Nullable Text rule(ConfigurationPropertyName name, Class<?> type, String value) {
        if (type == Integer.class) {
            int least = name.getLastElement(Form.DASHED).equals("permits") ? 1 : 0;
            return new Text(
                    "a whole number from %d to %d".formatted(least, Integer.MAX_VALUE),
                    "Set %s to such a number, as in 20.".formatted(name));
        }
        if (type == Duration.class) {
            return new Text("a duration", DURATION);
        }
        if (type == boolean.class) {
            return new Text("true or false", "Write true or false.");
        }
        return type.isEnum() ? oneOf(type, value) : null;
    }

    private static Text oneOf(Class<?> type, String value) {
        List<String> allowed = Arrays.stream(type.getEnumConstants())
                .map(each -> each.toString().toLowerCase(Locale.ROOT))
                .toList();
        return new Text(
                "one of " + allowed,
                Spelling.nearest(value, allowed)
                        .map("Did you mean '%s'?"::formatted)
                        .orElse("Write one of %s.".formatted(allowed)));
    }

    /** A rule, and what to write to keep it. */
    private record Text(String description, String action) {}
}
