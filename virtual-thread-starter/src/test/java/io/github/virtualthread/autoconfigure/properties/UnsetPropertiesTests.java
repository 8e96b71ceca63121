package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.setVariables;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Cluster;
import io.github.virtualthread.config.EngineSettings;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.PropertySource;

/** A start that sets nothing binds nothing, and has what it would have bound. */
@Timeout(300)
class UnsetPropertiesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

    @Test
    void theDefaultsAreWhatWouldBeBound() {
        assertThat(EngineSettings.DEFAULTS).isEqualTo(SettingsFactory.create(bound(), List.of()));
    }

    private static VirtualThreadProperties bound() {
        return new Binder().bindOrCreate("virtual-thread", VirtualThreadProperties.class);
    }

    @ParameterizedTest
    @MethodSource("parts")
    void theDefaultsOfEachPartAreWhatWouldBeBound(Class<?> part, Object defaults) {
        assertThat(defaults).isEqualTo(new Binder().bindOrCreate("part", part));
    }

    static Stream<Object[]> parts() {
        return Stream.concat(parts(bound()), parts(Cluster.DEFAULTS));
    }

    private static Stream<Object[]> parts(Record defaults) {
        return Stream.of(defaults.getClass().getRecordComponents())
                .filter(part -> part.getType().isRecord())
                .map(part -> new Object[] {part.getType(), value(part, defaults)});
    }

    private static Object value(RecordComponent part, Record defaults) {
        try {
            return part.getAccessor().invoke(defaults);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void aPartWithSomeKeysHasTheDefaultsOfTheOthers() {
        runner.withPropertyValues("virtual-thread.cluster.beat=1s").run(context -> assertThat(
                        context.getBean(VirtualThreadProperties.class).cluster())
                .isEqualTo(new Cluster(
                        null,
                        Cluster.DEFAULTS.lease(),
                        Duration.ofSeconds(1),
                        Cluster.DEFAULTS.onFailure(),
                        null,
                        null,
                        null,
                        Cluster.DEFAULTS.jdbc())));
    }

    @Test
    void theyAreNotBound() {
        runner.run(context -> {
            assertThat(isBound(context.getBeanFactory())).isFalse();
            assertThat(context).getBean(EngineSettings.class).isSameAs(EngineSettings.DEFAULTS);
        });
        runner.withPropertyValues("virtual-thread.timeout=3s")
                .run(context -> assertThat(isBound(context.getBeanFactory())).isTrue());
    }

    /** Spring Boot adds sources of its own, and that of random values cannot list its keys. */
    @Test
    void theyAreNotBoundInAnApplicationEither() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run()) {
            assertThat(context.getEnvironment().getPropertySources().contains("random"))
                    .isTrue();
            assertThat(isBound(context.getBeanFactory())).isFalse();
        }
    }

    private static boolean isBound(ConfigurableListableBeanFactory beans) {
        return Stream.of(beans.getBeanNamesForType(VirtualThreadProperties.class))
                .anyMatch(beans::containsSingleton);
    }

    @Test
    void aKeyOfAPlaceholderConfigurerIsBound() {
        runner.withUserConfiguration(OwnKeys.class)
                .run(context -> assertThat(timeout(context.getBean(EngineSettings.class)))
                        .hasSeconds(3));
    }

    @Test
    void aKeyOfASourceThatCannotListItsKeysIsBound() {
        runner.withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(new Unlisted()))
                .run(context -> assertThat(timeout(context.getBean(EngineSettings.class)))
                        .hasSeconds(3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"VIRTUALTHREAD_TIMEOUT", "VIRTUAL_THREAD_TIMEOUT", "virtualthread.timeout"})
    void aKeyIsBoundHoweverItIsSpelt(String variable) {
        runner.withInitializer(context -> setVariables(context.getEnvironment(), Map.of(variable, "3s")))
                .run(context -> assertThat(timeout(context.getBean(EngineSettings.class)))
                        .hasSeconds(3));
    }

    private static @Nullable Duration timeout(EngineSettings settings) {
        return settings.methods().timeout();
    }

    @Test
    void withoutSpringCloudNothingWaitsForItsEvent() {
        runner.run(context -> assertThat(context).hasSingleBean(LimitRefresh.class));
        runner.withClassLoader(new FilteredClassLoader(EnvironmentChangeEvent.class))
                .run(context -> assertThat(context).doesNotHaveBean(LimitRefresh.class));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class OwnKeys {

        @Bean
        static PropertySourcesPlaceholderConfigurer keys() {
            PropertySourcesPlaceholderConfigurer configurer = new PropertySourcesPlaceholderConfigurer();
            Properties own = new Properties();
            own.setProperty("virtual-thread.timeout", "3s");
            configurer.setProperties(own);
            return configurer;
        }
    }

    /** As JNDI is. */
    private static final class Unlisted extends PropertySource<Object> {

        Unlisted() {
            super("unlisted", new Object());
        }

        @Override
        public @Nullable Object getProperty(String name) {
            return name.equals("virtual-thread.timeout") ? "3s" : null;
        }
    }
}
