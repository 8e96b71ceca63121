package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.BeanNames;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Auto-configuration that puts {@code @Async} methods and executors under limits, if a property asks for it. */
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@Conditional(AsyncSettings.AreSet.class)
@ConditionalOnBean(name = BeanNames.BY_HAND)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class VirtualThreadAsyncAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadAsyncAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AsyncExecutors virtualThreadAsyncExecutors(Environment environment, ConfigurableListableBeanFactory beans) {
        return new AsyncExecutors(environment, beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AsyncMethods virtualThreadAsyncMethods(AsyncExecutors executors, ConfigurableListableBeanFactory beans) {
        return new AsyncMethods(executors.settings, beans);
    }

    @Bean(BeanNames.ASYNC_CHECK)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AsyncCheck virtualThreadAsyncCheck(
            AsyncExecutors executors,
            AsyncMethods methods,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        return new AsyncCheck(executors, methods, beans, environment);
    }
}
