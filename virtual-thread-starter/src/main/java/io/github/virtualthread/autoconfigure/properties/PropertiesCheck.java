package io.github.virtualthread.autoconfigure.properties;

import io.github.virtualthread.Internal;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * Fails the start because of wrong properties before any bean is created, so that the report itself is the first exception in
 * the log. If a bean failed instead, the exceptions of all beans that need it would wrap the report.
 */
@Internal
public final class PropertiesCheck implements BeanFactoryPostProcessor, ConfigurationPropertiesBindHandlerAdvisor {

    private static final Logger logger = LoggerFactory.getLogger(PropertiesCheck.class);

    private Iterable<PropertySource<?>> sources = List.of();
    private boolean isAnySet = true; // as long as that is not known

    /** Created by Spring. */
    public PropertiesCheck() {}

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        if (PropertiesBinding.isAheadOfTime()) {
            return;
        }
        ConfigurableEnvironment environment = beanFactory.getBean(
                ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, ConfigurableEnvironment.class);
        sources = sources(beanFactory, environment);
        PropertiesBinding binding = PropertiesBinding.of(sources);
        VirtualThreadProperties properties = binding.properties();
        isAnySet = properties != null;
        StrayKeys stray = StrayKeys.in(environment, binding);
        List<Mistake> mistakes = new ArrayList<>(stray.mistakes());
        mistakes.addAll(binding.mistakes());
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        if (!stray.ignored().isEmpty()) {
            logger.warn(
                    "Ignored, because these are not properties of the virtual-thread starter: {}. Correct their names, unless"
                            + " something else reads them",
                    String.join(", ", stray.ignored()));
        }
        if (properties != null
                && properties.endpoint().sql()
                && !properties.jdbc().cancelStatements()) {
            logger.info("virtual-thread.endpoint.sql shows only statements that can be cancelled. Set"
                    + " virtual-thread.jdbc.cancel-statements=true");
        }
    }

    /**
     * The sources that Spring Boot binds from: a placeholder configurer may have more than the environment. Each exists by now, as it
     * is a post-processor that goes first.
     */
    private static Iterable<PropertySource<?>> sources(
            ConfigurableListableBeanFactory beanFactory, ConfigurableEnvironment environment) {
        List<PropertySourcesPlaceholderConfigurer> configurers = new ArrayList<>();
        for (String name : beanFactory.getSingletonNames()) {
            if (beanFactory.getSingleton(name) instanceof PropertySourcesPlaceholderConfigurer configurer) {
                configurers.add(configurer);
            }
        }
        if (configurers.size() == 1) {
            return configurers.get(0).getAppliedPropertySources();
        }
        return environment.getPropertySources();
    }

    /** How Spring Boot binds the properties. */
    @Override
    public BindHandler apply(BindHandler bindHandler) {
        return new BlankCountsAsNotSet(bindHandler);
    }

    /**
     * Returns what the properties are bound from.
     *
     * @return sources, the one that counts first
     */
    public Iterable<PropertySource<?>> sources() {
        return sources;
    }

    /** The settings of the engine. If no key is set, as in most applications, the properties need not be bound. */
    EngineSettings settings(ObjectProvider<VirtualThreadProperties> properties) {
        return isAnySet ? SettingsFactory.create(properties.getObject(), sources) : EngineSettings.DEFAULTS;
    }
}
