package io.github.virtualthread.autoconfigure.properties;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Limit;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.limit.LimitSettings;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A limit whose name has a dash is bound twice if a variable changes it, and merged. */
class LimitMergeTests {

    private static final String LIMIT = "virtual-thread.limits.price-db.";

    /** A key, two values, and what it needs beside it. */
    static final List<Arguments> KEYS = List.of(
            arguments("permits", "8", "9", Map.of()),
            arguments("permits-from", "pool", "other-pool", Map.of()),
            arguments("headroom", "1", "2", Map.of("permits-from", "pool")),
            arguments("within", "a", "b", Map.of("permits", "8")),
            arguments("permits-per-key", "1", "2", Map.of("permits", "8")),
            arguments("queue-capacity", "1", "2", Map.of("permits", "8")),
            arguments("queue-capacity-per-key", "1", "2", Map.of("permits", "8")),
            arguments("key-weights.gold", "2", "3", Map.of("permits", "8", "key-weights.silver", "4")),
            arguments("max-wait", "1s", "2s", Map.of("permits", "8")),
            arguments("cluster-permits", "30", "40", Map.of()),
            arguments("on-failure", "wait", "reject", Map.of("cluster-permits", "30")),
            arguments("reject-hopeless", "true", "false", Map.of("permits", "8")),
            arguments("adapt.least", "2", "3", Map.of("permits", "8", "adapt.most", "80", "adapt.run-time", "1s")),
            arguments("adapt.most", "70", "80", Map.of("permits", "8", "adapt.least", "2", "adapt.run-time", "1s")),
            arguments("adapt.run-time", "1s", "2s", Map.of("permits", "8", "adapt.least", "2", "adapt.most", "80")),
            arguments("dry-run", "true", "false", Map.of("permits", "8")),
            arguments("nested", "fail", "warn", Map.of("permits", "8")));

    @Test
    void noneIsLeftOut() {
        assertThat(KEYS.stream().map(key -> key.get()[0].toString().split("\\.")[0]))
                .containsAll(PropertyMistakes.keys(Limit.class));
    }

    /** A default, or a primitive, would count as set. */
    @Test
    void whatIsNotSetIsNull() throws ReflectiveOperationException {
        Limit unset = new Binder().bindOrCreate("limit", Limit.class);
        for (var component : Limit.class.getRecordComponents()) {
            Object value = component.getAccessor().invoke(unset);

            assertThat(component.getType().isPrimitive())
                    .as(component.getName())
                    .isFalse();
            assertThat(value instanceof Map<?, ?> map && map.isEmpty() ? null : value)
                    .as(component.getName())
                    .isNull();
        }
    }

    @ParameterizedTest
    @FieldSource("KEYS")
    void aVariableOverridesTheFile(String key, String one, String other, Map<String, String> beside) {
        for (String variable : spellings(key)) {
            assertThat(limit(variable(variable, one), file(key, other, beside)))
                    .as(variable)
                    .usingRecursiveComparison()
                    .ignoringFields("name")
                    .isEqualTo(limit(file(key, one, beside)));
            assertThat(limit(variable(variable, other), file(key, one, beside)))
                    .as(variable)
                    .usingRecursiveComparison()
                    .ignoringFields("name")
                    .isEqualTo(limit(file(key, other, beside)));
        }
    }

    @ParameterizedTest
    @FieldSource("KEYS")
    void aSourceAboveTheVariablesOverridesThem(String key, String one, String other, Map<String, String> beside) {
        for (String variable : spellings(key)) {
            assertThat(limit(file(key, one, beside), variable(variable, other)))
                    .as(variable)
                    .usingRecursiveComparison()
                    .ignoringFields("name")
                    .isEqualTo(limit(file(key, one, beside)));
            assertThat(limit(file(key, other, beside), variable(variable, one)))
                    .as(variable)
                    .usingRecursiveComparison()
                    .ignoringFields("name")
                    .isEqualTo(limit(file(key, other, beside)));
        }
    }

    /** Spring Boot finds both, but the second one only under the name {@code pricedb}. Not within names that users choose. */
    private static List<String> spellings(String key) {
        String variable = key.toUpperCase(Locale.ROOT).replace('.', '_');
        String ours = variable.replace("-", "");
        return Stream.of(ours, key.startsWith("key-weights") ? ours : variable.replace('-', '_'))
                .distinct()
                .toList();
    }

    private static PropertySource<?> variable(String key, String value) {
        return new SystemEnvironmentPropertySource(
                "systemEnvironment", Map.of("VIRTUALTHREAD_LIMITS_PRICEDB_" + key, value));
    }

    static PropertySource<?> file(String key, String value, Map<String, String> beside) {
        Map<String, Object> keys = new TreeMap<>();
        beside.forEach((each, its) -> keys.put(LIMIT + each, its));
        keys.put(LIMIT + key, value);
        return new MapPropertySource("file", keys);
    }

    static LimitSettings limit(PropertySource<?>... sources) {
        PropertiesBinding binding = PropertiesBinding.of(List.of(sources));
        EngineSettings settings =
                SettingsFactory.create(Objects.requireNonNull(binding.properties()), List.of(sources));
        assertThat(binding.mistakes()).isEmpty();
        assertThat(settings.mistakes()).isEmpty();
        assertThat(settings.limits()).hasSize(1);
        return settings.limits().get(0);
    }
}
