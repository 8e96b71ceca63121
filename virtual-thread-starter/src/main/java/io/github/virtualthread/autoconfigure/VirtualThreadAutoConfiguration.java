package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolSizes;
import io.github.virtualthread.pool.SecondConnectionWarnings;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration for {@code @VirtualThread}: enables it and takes the settings of the engine from the properties.
 *
 * <p>What a method returns is loaded in every application, also if its condition is not met. So it is Spring's type, or a class of its
 * own has the method.
 */
@AutoConfiguration
@EnableConfigurationProperties(VirtualThreadProperties.class)
@Import(VirtualThreadAutoConfiguration.ClassProxying.class)
public class VirtualThreadAutoConfiguration {

    /** Name of the engine, where there is one. Conditions look for it: for a type, Spring would ask all beans for theirs. */
    static final String ENGINE = "virtualThreadEngine";

    /** Name that {@link EnableVirtual} gives the post-processor. */
    private static final String POST_PROCESSOR = "io.github.virtualthread.config.internalVirtualThreadPostProcessor";

    /** Created by Spring. */
    public VirtualThreadAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static PropertiesCheck virtualThreadPropertiesCheck(ConfigurableEnvironment environment) {
        return new PropertiesCheck(environment);
    }

    @Bean
    @ConditionalOnMissingBean(name = "virtualThreadSettings")
    EngineSettings virtualThreadSettings(
            PropertiesCheck virtualThreadPropertiesCheck, ObjectProvider<VirtualThreadProperties> properties) {
        return virtualThreadPropertiesCheck.settings(properties);
    }

    /** Only with Spring Cloud, which publishes the event. */
    @Bean
    @ConditionalOnClass(name = LimitRefresh.EVENT)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    GenericApplicationListener virtualThreadLimitRefresh(
            ConfigurableEnvironment environment,
            ObjectProvider<TaskLimitCustomizer> customizers,
            BeanFactory beanFactory) {
        return new LimitRefresh(environment, customizers, beanFactory);
    }

    /** For limits that take their permits from the pool of a data source. */
    @Bean
    @ConditionalOnClass(name = "org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider")
    @ConditionalOnMissingBean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    PoolSizes virtualThreadPoolSizes(ObjectProvider<DataSourcePoolMetadataProvider> providers) {
        return new DataSourcePoolSizes(providers);
    }

    /** Only if asked for: otherwise no connection is wrapped. */
    @Bean
    @Conditional(StatementsSwitch.OnStatements.class)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static BeanFactoryPostProcessor virtualThreadStatementsSwitch(Environment environment) {
        return new StatementsSwitch(environment);
    }

    /** Spring Boot adds it to the transaction managers that it creates. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.transaction.TransactionExecutionListener")
    static class TransactionsConfiguration {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        SecondConnectionWarnings virtualThreadSecondConnectionWarnings(
                ObjectProvider<TaskEngine> engine, ObjectProvider<TaskLimits> limits, BeanFactory beanFactory) {
            return new SecondConnectionWarnings(engine, limits, beanFactory);
        }
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ConfigurationPropertiesBindHandlerAdvisor virtualThreadBlankCountsAsNotSet() {
        return BlankCountsAsNotSet::new;
    }

    /**
     * Backs off if the application has {@link EnableVirtual}. Each context needs its own post-processor, because one in the
     * parent does not see the beans of its children.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(name = POST_PROCESSOR, search = SearchStrategy.CURRENT)
    @EnableVirtual
    static class EnableVirtualConfiguration {}

    /**
     * Applies {@code spring.aop.proxy-target-class}, which is true by default under Spring Boot, to the post-processor.
     * Spring 6.2 does so for auto-proxy creators only; a JDK proxy would break injection by class.
     */
    record ClassProxying(Environment environment) implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            boolean proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
            if (proxyTargetClass && registry.containsBeanDefinition(POST_PROCESSOR)) {
                registry.getBeanDefinition(POST_PROCESSOR).getPropertyValues().add("proxyTargetClass", true);
            }
        }
    }
}
