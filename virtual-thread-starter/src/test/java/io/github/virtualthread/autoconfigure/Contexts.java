package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** What tests of properties do with application contexts. */
public final class Contexts {

    private Contexts() {}

    /** Why the start has failed, which it must. */
    public static List<Mistake> mistakes(AssertableApplicationContext context) {
        assertThat(context.getStartupFailure()).isInstanceOf(VirtualThreadConfigurationException.class);
        return ((VirtualThreadConfigurationException) context.getStartupFailure()).mistakes();
    }

    public static List<Mistake> mistakes(ApplicationContextRunner runner) {
        List<Mistake> mistakes = new ArrayList<>();
        runner.run(context -> mistakes.addAll(mistakes(context)));
        return mistakes;
    }

    /** Instead of the environment variables of this JVM. */
    public static void setVariables(ConfigurableEnvironment environment, Map<String, Object> variables) {
        String source = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        environment.getPropertySources().replace(source, new SystemEnvironmentPropertySource(source, variables));
    }

    /** As Spring Cloud does. */
    public static void change(AssertableApplicationContext context, String... properties) {
        ConfigurableApplicationContext source = context.getSourceApplicationContext();
        TestPropertyValues.of(properties).applyTo(source);
        source.publishEvent(new EnvironmentChangeEvent(source));
    }
}
