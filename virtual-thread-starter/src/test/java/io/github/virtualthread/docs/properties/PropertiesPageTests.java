package io.github.virtualthread.docs.properties;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitNumber.Change;
import io.github.virtualthread.limit.LimitNumber.Kind;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** The reference has every property that there is, and no other. */
class PropertiesPageTests {

    private static final String LIMITS = "virtual-thread.limits";
    private static final String METHODS = "virtual-thread.methods";
    private static final String EXECUTORS = "virtual-thread.async.executors";
    private static final Path METADATA =
            Pages.ROOT.resolve("virtual-thread-starter/target/classes/META-INF/spring-configuration-metadata.json");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z.<>-]+)` \\| [^|]+ \\| (?:`([^`]*)`|none) \\|");

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

    @Test
    void thePageHasTheKeysAndDefaultsOfTheMetadata() throws IOException {
        Pages.assertRows(
                "docs/properties.md",
                ROW,
                row -> line(row.group(1), row.group(2)),
                known().entrySet().stream()
                        .map(key -> line(key.getKey().substring("virtual-thread.".length()), key.getValue()))
                        .toList());
    }

    @ParameterizedTest
    @EnumSource
    void thePageSaysWhatTheRowOfALimitSays(LimitNumber number) throws IOException {
        String key = Pattern.quote("limits.<name>." + number.key());
        Matcher row = Pattern.compile(
                        "(?m)^\\| `%s(?:\\.[a-z<>]+)?` \\| ([^|]+) \\| [^|]+ \\| (.+) \\|$".formatted(key))
                .matcher(Files.readString(Pages.ROOT.resolve("docs/properties.md")));
        assertThat(row.find()).as(key).isTrue();
        String type = row.group(1);
        String meaning = row.group(2).toLowerCase(Locale.ROOT);

        switch (number.kind()) {
            case NUMBER, BOUND -> assertThat(type).isEqualTo("Integer");
            case TIME -> assertThat(type).isEqualTo("Duration");
            case FLAG -> assertThat(type).isEqualTo("Boolean");
            case OTHER -> {}
        }
        if (number.kind() != Kind.OTHER) {
            assertThat(meaning.contains("at least 1")).isEqualTo(number.least() == 1);
            assertThat(meaning.contains("more than zero")).isEqualTo(number.kind() == Kind.TIME);
        }
        assertThat(meaning.contains("cannot change while the application runs"))
                .isEqualTo(number.change() == Change.NEVER);
        assertThat(meaning.contains("cannot be added while the application runs"))
                .isEqualTo(number.change() == Change.IF_SET_AT_START);
    }

    private static String line(String key, @Nullable String value) {
        return "| `%s` | ... | %s | ... |".formatted(key, value == null ? "none" : "`" + value + "`");
    }

    @Test
    void aBlankTextIsEmptyAndABlankNumberOrTimeIsNotSet() {
        runner.withPropertyValues(
                        "virtual-thread.thread-name-prefix=",
                        "virtual-thread.propagation.mdc-keys=",
                        "virtual-thread.shutdown.await-termination-period=")
                .run(context -> {
                    VirtualThreadProperties properties = context.getBean(VirtualThreadProperties.class);

                    assertThat(properties.threadNamePrefix()).isEmpty();
                    assertThat(properties.propagation().mdcKeys()).isEmpty();
                    assertThat(properties.shutdown().awaitTerminationPeriod()).isEqualTo(Duration.ofSeconds(30));
                });
    }

    @Test
    void anEnvironmentVariableMakesANewLimit() {
        environment("VIRTUALTHREAD_LIMITS_MAIL_PERMITS", "5").run(context -> assertThat(
                        context.getBean(TaskLimits.class).get("mail").permits())
                .isEqualTo(5));
    }

    @Test
    void aMisspeltEnvironmentVariableIsIgnored() {
        environment("VIRTUALTHREAD_LIMITS_DB_PERMIT", "5")
                .withPropertyValues("virtual-thread.limits.db.permits=2")
                .run(context -> assertThat(
                                context.getBean(TaskLimits.class).get("db").permits())
                        .isEqualTo(2));
    }

    @Test
    void aMisspeltSystemPropertyIsNotNoticed() {
        runner.withSystemProperties("virtual-thread.limits.db.permit=5")
                .withPropertyValues("virtual-thread.limits.db.permits=2")
                .run(context -> assertThat(
                                context.getBean(TaskLimits.class).get("db").permits())
                        .isEqualTo(2));
    }

    @Test
    void anEnvironmentVariableDoesNotReachANameWithDots() {
        environment("VIRTUALTHREAD_LIMITS_PARTNER_API_PERMITS", "5")
                .withPropertyValues("virtual-thread.limits[partner.api].permits=2")
                .run(context -> assertThat(context.getBean(TaskLimits.class)
                                .get("partner.api")
                                .permits())
                        .isEqualTo(2));
    }

    private ApplicationContextRunner environment(String name, String value) {
        return runner.withInitializer(context -> {
            MutablePropertySources sources = context.getEnvironment().getPropertySources();
            String environment = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
            sources.replace(environment, new SystemEnvironmentPropertySource(environment, Map.of(name, value)));
            if (sources.contains("test")) {
                // stands in for a file, which environment variables override
                sources.addLast(Objects.requireNonNull(sources.remove("test")));
            }
        });
    }

    /** Keys with their defaults, null for none. */
    private static Map<String, @Nullable String> known() throws IOException {
        Map<String, @Nullable String> known = new TreeMap<>();
        // what begins with management. is Actuator's own, the same for each endpoint
        List<Map<String, Object>> properties =
                JsonPath.parse(METADATA.toFile()).read("$.properties[?(@.name =~ /virtual-thread\\..*/)]");
        for (Map<String, Object> property : properties) {
            Object value = property.get("defaultValue");
            known.put((String) property.get("name"), value == null ? null : value.toString());
        }
        // Actuator's own, of our endpoints
        known.keySet().removeIf(name -> name.startsWith("management."));
        // the metadata has one entry for all limits
        assertThat(known.keySet().remove(LIMITS)).isTrue();
        addComponents(known, LIMITS + ".<name>.", VirtualThreadProperties.Limit.class);
        assertThat(known.keySet().remove(METHODS)).isTrue();
        addComponents(known, METHODS + ".<method>.", VirtualThreadProperties.Method.class);
        assertThat(known.keySet().remove(EXECUTORS)).isTrue();
        known.put(EXECUTORS + ".<bean>", null);
        return known;
    }

    /** Of a key of limits that is not set, the settings have the default. */
    private static @Nullable String byDefault(Class<?> type, String component) {
        return Stream.of(LimitNumber.values())
                .filter(number -> type == VirtualThreadProperties.Limit.class
                        && number.parameter().equals(component))
                .map(number -> number.of(LimitSettings.of("any", 1)))
                .filter(value -> value instanceof Boolean || value instanceof Enum)
                .findFirst()
                .map(value -> value.toString().toLowerCase(Locale.ROOT))
                .orElse(null);
    }

    private static void addComponents(Map<String, @Nullable String> known, String prefix, Class<?> type) {
        for (Parameter component : type.getDeclaredConstructors()[0].getParameters()) {
            if (component.getType() == VirtualThreadProperties.Adapt.class) {
                addComponents(known, prefix + "adapt.", component.getType());
                continue;
            }
            DefaultValue defaultValue = component.getAnnotation(DefaultValue.class);
            boolean byKey = component.getType() == Map.class;
            known.put(
                    prefix + DataObjectPropertyName.toDashedForm(component.getName()) + (byKey ? ".<key>" : ""),
                    defaultValue == null || byKey
                            ? byDefault(type, component.getName())
                            : defaultValue.value()[0]);
        }
    }
}
