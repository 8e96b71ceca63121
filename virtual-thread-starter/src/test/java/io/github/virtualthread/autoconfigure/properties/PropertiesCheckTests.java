package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** The exception that somebody sees first is the report of what is wrong, not one of a bean that could not be made. */
@Timeout(300)
class PropertiesCheckTests {

    private static final String KEY = "virtual-thread.limits.db.permit";
    private static final String REPORT = KEY + " is not a property of the virtual-thread starter";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

    @Test
    void theExceptionOfAnApplicationIsTheReport() {
        SpringApplication application = new SpringApplication(Empty.class);
        application.setWebApplicationType(WebApplicationType.NONE);

        assertThatThrownBy(() -> application.run("--" + KEY + "=20", "--spring.main.banner-mode=off"))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageStartingWith(REPORT);
    }

    @Test
    void theExceptionOfAPlainContextIsTheReport() {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.register(Empty.class);
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", Map.of(KEY, "20")));

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(VirtualThreadConfigurationException.class)
                    .hasMessageStartingWith(REPORT);
        }
    }

    @Test
    void wrongKeysAndWrongValuesComeInOneReport() {
        runner.withPropertyValues(
                        KEY + "=20",
                        "virtual-thread.limits.db.permits=twenty",
                        "virtual-thread.timeout=soon",
                        "virtual-thread.enabled=perhaps",
                        "virtual-thread.limits.mail=5",
                        "virtual-thread.pool=20")
                .run(context -> assertThat(mistakes(context))
                        .extracting(mistake -> mistake.description().split(" ")[0])
                        .containsExactlyInAnyOrder(
                                KEY,
                                "virtual-thread.limits.db.permits",
                                "virtual-thread.timeout",
                                "virtual-thread.enabled",
                                "virtual-thread.limits.mail",
                                "virtual-thread.pool"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "limits: [db, mail]",
                "limits: [{name: db, permits: 20}, {name: mail, permit: 5}]",
                "limits: [{permits: 20}, {permits: 5}]"
            })
    void aListOfLimitsIsOneMistake(String yaml) {
        assertThat(mistakes(runner.withInitializer(yaml("virtual-thread: {" + yaml + "}"))))
                .extracting(Mistake::description)
                .containsExactly("virtual-thread.limits is a list, but must contain limits by name");
    }

    @Test
    void aLimitMayHaveANumberForItsName() {
        runner.withInitializer(yaml("virtual-thread: {limits: {'0': {permits: 20}, 7: {permits: 5}}}"))
                .run(context ->
                        assertThat(context.getBean(TaskLimits.class).names()).containsExactly("0", "7"));
    }

    @Test
    void aPropertyBesideTheNameOfItsLimitIsToBeIndented() {
        String yaml = """
                virtual-thread:
                  limits:
                    db:
                    permits: 20
                """;

        assertThat(mistakes(runner.withInitializer(yaml(yaml))))
                .contains(new Mistake(
                        "virtual-thread.limits.permits has a value, but permits is a property of a limit and belongs below"
                                + " its name (Byte array resource [limits.yml] - 4:14)",
                        "Move it below the name of a limit: virtual-thread.limits.<name>.permits."))
                .extracting(Mistake::action)
                .noneMatch(action -> action.contains("permits.permits"));
    }

    private static ApplicationContextInitializer<ConfigurableApplicationContext> yaml(String yaml) {
        return context -> {
            try {
                new YamlPropertySourceLoader()
                        .load("yaml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8), "limits.yml"))
                        .forEach(context.getEnvironment().getPropertySources()::addFirst);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        };
    }

    @Test
    void aValueThatCannotBeReadIsAMistakeToo() {
        runner.withPropertyValues("virtual-thread.default-limit=${a}", "a=${b}", "b=${a}")
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(VirtualThreadConfigurationException.class)
                        .hasMessageStartingWith("virtual-thread.default-limit cannot be read: "));
    }

    @Test
    void aSentenceOfSpringBootEndsWithOneFullStop() {
        runner.withPropertyValues("virtual-thread.client.deadline-hosts[1]=localhost")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("virtual-thread.client.deadline-hosts cannot be read: ")
                        .hasMessageContaining("were left unbound. Correct its value."));
    }

    @Test
    void theExceptionOfATestIsTheReportAndNoBeanIsMadeBefore() {
        AtomicBoolean made = new AtomicBoolean();

        runner.withPropertyValues(KEY + "=20")
                .withBean("first", String.class, () -> {
                    made.set(true);
                    return "made";
                })
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(VirtualThreadConfigurationException.class)
                        .hasMessageStartingWith(REPORT));

        assertThat(made).isFalse();
    }

    @Test
    void aPlaceholderMayGetItsValueFromAPlaceholderConfigurer() {
        runner.withUserConfiguration(OwnPlaceholders.class)
                .withPropertyValues("virtual-thread.limits.db.permits=${db.permits}")
                .run(context -> assertThat(
                                context.getBean(TaskLimits.class).get("db").permits())
                        .isEqualTo(3));
    }

    @Test
    void aPrefixWithNothingBelowItIsNoMistake() {
        runner.withPropertyValues("virtual-thread=")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Empty {}

    @Configuration(proxyBeanMethods = false)
    static class OwnPlaceholders {

        @Bean
        static PropertySourcesPlaceholderConfigurer placeholders() {
            PropertySourcesPlaceholderConfigurer placeholders = new PropertySourcesPlaceholderConfigurer();
            Properties own = new Properties();
            own.setProperty("db.permits", "3");
            placeholders.setProperties(own);
            return placeholders;
        }
    }
}
