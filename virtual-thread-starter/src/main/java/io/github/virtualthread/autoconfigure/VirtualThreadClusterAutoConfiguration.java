package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Internal;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.config.VirtualThreadDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Auto-configuration for what lends permits to replicas, by the application's connection to Redis or to its database. */
@Internal
@AutoConfiguration(
        after = VirtualThreadAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
        })
@ConditionalOnClass(name = "org.springframework.dao.DataAccessException") // of both, Redis and JDBC
@Lazy
public class VirtualThreadClusterAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadClusterAutoConfiguration() {}

    /**
     * Created only if a limit is shared by all replicas: properties of the start, or beans, may say so; and if there is no {@code
     * ClusterStore}, which a condition might not see, as it may be of another auto-configuration.
     */
    @Bean(BeanNames.CLUSTER_ENGINE)
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    ClusterEngine virtualThreadClusterEngine(
            VirtualThreadProperties properties,
            Environment environment,
            ConfigurableListableBeanFactory beanFactory,
            @VirtualThreadDataSource ObjectProvider<DataSource> own) {
        return new ClusterEngines(properties.cluster(), environment, beanFactory, own).create();
    }
}
