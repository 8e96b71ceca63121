package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.async.AsyncCheck;
import io.github.virtualthread.autoconfigure.async.AsyncExecutors;
import io.github.virtualthread.autoconfigure.async.AsyncSettings;
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
@Internal
@AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
@Conditional(AsyncSettings.AreSet.class)
@ConditionalOnBean(name = BeanNames.BY_HAND)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class VirtualThreadAsyncAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadAsyncAutoConfiguration() {}

    /** Without parameters: to find one by its type, Spring would ask every factory bean, and so create it too early. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AsyncExecutors virtualThreadAsyncExecutors() {
        return new AsyncExecutors();
    }

    @Bean(BeanNames.ASYNC_CHECK)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AsyncCheck virtualThreadAsyncCheck(
            AsyncExecutors executors, ConfigurableListableBeanFactory beans, Environment environment) {
        return new AsyncCheck(executors, beans, environment);
    }
}
