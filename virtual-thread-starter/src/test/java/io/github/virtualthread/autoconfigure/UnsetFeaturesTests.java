package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.observation.PinWatch;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.PropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.support.EncodedResource;
import org.springframework.core.io.support.PropertySourceFactory;

/** Which auto-configurations Spring need not read. */
@Timeout(300)
class UnsetFeaturesTests {

    private static final String[] OF_A_PROPERTY = {
        VirtualThreadAsyncAutoConfiguration.class.getName(),
        VirtualThreadClientAutoConfiguration.class.getName(),
        VirtualThreadDoorAutoConfiguration.class.getName(),
        VirtualThreadObservationAutoConfiguration.class.getName(),
        VirtualThreadPinningAutoConfiguration.class.getName()
    };

    @Test
    void withoutAnyKeyTheseAreLeftOut() {
        assertThat(leftOut(new StandardEnvironment())).containsExactlyInAnyOrder(OF_A_PROPERTY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"VIRTUAL_THREAD_PINNING_ENABLED", "VIRTUALTHREAD_PINNING_ENABLED"})
    void aVariableOfTheEnvironmentIsAKey(String name) {
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource("own-systemEnvironment", Map.of(name, "true")));

        assertThat(leftOut(environment)).isEmpty();
    }

    @Test
    void aSourceThatCannotListItsKeysMayHaveOne() {
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new org.springframework.core.env.PropertySource<>("vault", new Object()) {
                    @Override
                    public Object getProperty(String name) {
                        return null;
                    }
                });

        assertThat(leftOut(environment)).isEmpty();
    }

    @Test
    void springBootAsksIt() {
        String pinning = VirtualThreadPinningAutoConfiguration.class.getName();

        assertThat(evaluated()).doesNotContain(pinning);
        assertThat(evaluated("--virtual-thread.stuck-after=1h")).contains(pinning);
    }

    @Test
    void whatAPropertySwitchesOnIsThere() {
        try (ConfigurableApplicationContext context =
                start(Application.class, "--virtual-thread.pinning.enabled=true")) {
            assertThat(context.getBeanNamesForType(PinWatch.class)).hasSize(1);
        }
    }

    @Test
    void aClassThatIsImportedLaterMayBringTheKey() {
        try (ConfigurableApplicationContext context = start(ImportsKeys.class)) {
            assertThat(context.getBeanNamesForType(PinWatch.class)).hasSize(1);
        }
    }

    private static List<String> leftOut(ConfigurableEnvironment environment) {
        String[] names = ImportCandidates.load(AutoConfiguration.class, UnsetFeaturesTests.class.getClassLoader())
                .getCandidates()
                .toArray(String[]::new);
        UnsetFeatures filter = new UnsetFeatures();
        filter.setEnvironment(environment);
        boolean[] matches = filter.match(names, null);
        return IntStream.range(0, names.length)
                .filter(i -> !matches[i])
                .mapToObj(i -> names[i])
                .toList();
    }

    /** Those that Spring Boot has read to look at their conditions. */
    private static Iterable<String> evaluated(String... arguments) {
        try (ConfigurableApplicationContext context = start(Application.class, arguments)) {
            return ConditionEvaluationReport.get(context.getBeanFactory())
                    .getConditionAndOutcomesBySource()
                    .keySet();
        }
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... arguments) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .run(arguments);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Keys.class)
    static class ImportsKeys {}

    @Configuration(proxyBeanMethods = false)
    @PropertySource(value = "any", factory = KeysOfNoFile.class)
    static class Keys {}

    static class KeysOfNoFile implements PropertySourceFactory {

        @Override
        public org.springframework.core.env.PropertySource<?> createPropertySource(
                String name, EncodedResource resource) {
            return new MapPropertySource("keys", Map.of("virtual-thread.pinning.enabled", "true"));
        }
    }
}
