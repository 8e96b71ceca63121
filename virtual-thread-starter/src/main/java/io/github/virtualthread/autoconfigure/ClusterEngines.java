package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Cluster;
import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Cluster.Engine;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Chooses and creates what lends permits to replicas. The descriptions of mistakes go on after "Limit 'x' has cluster-permits, but".
 */
final class ClusterEngines {

    static final String KEY = "virtual-thread.cluster";
    private static final String REDIS = "org.springframework.data.redis.core.StringRedisTemplate";

    private final Cluster properties;
    private final Environment environment;
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<DataSource> own;

    /**
     * Creates a choice.
     *
     * @param own data sources that are for the engine alone
     */
    ClusterEngines(
            Cluster properties,
            Environment environment,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<DataSource> own) {
        this.properties = properties;
        this.environment = environment;
        this.beans = beans;
        this.own = own;
    }

    ClusterEngine create() {
        Engine engine = properties.engine() == null ? present() : properties.engine();
        if (engine == Engine.REDIS) {
            if (!isPresent(REDIS)) {
                throw mistake(
                        KEY + ".engine is redis, and Spring Data Redis is not on the classpath",
                        "Add spring-boot-starter-data-redis, or set %s.engine to jdbc.".formatted(KEY));
            }
            return new RedisClusterEngine(bean(RedisConnectionFactory.class, "RedisClusterEngine"), name());
        }
        if (engine == Engine.JDBC) {
            return new ClusterTable(
                            dataSource(), name(), ClusterSettingsFactory.table(properties), beans.getBeanClassLoader())
                    .engine(properties.jdbc().initializeSchema());
        }
        throw mistake(
                KEY + ".engine is none",
                ("Set %s.engine to redis or jdbc, or remove it. Otherwise remove cluster-permits, and set permits to the part"
                                + " of each replica.")
                        .formatted(KEY));
    }

    private Engine present() {
        if (isPresent(REDIS) && isBean(RedisConnectionFactory.class)) {
            return Engine.REDIS;
        }
        if (isBean(DataSource.class)) {
            return Engine.JDBC;
        }
        throw mistake(
                "nothing lends the permits to the replicas: there is no bean of type RedisConnectionFactory, DataSource or"
                        + " ClusterEngine",
                "Add spring-boot-starter-data-redis or spring-boot-starter-jdbc, and configure its connection; or declare a bean of"
                        + " type ClusterEngine. Otherwise remove cluster-permits, and set permits to the part of each replica.");
    }

    /** The one that is for the engine; without it that of the application. */
    private DataSource dataSource() {
        DataSource found;
        try {
            found = own.getIfAvailable();
        } catch (NoUniqueBeanDefinitionException several) {
            throw mistake(
                    "there are several beans of type DataSource with @VirtualThreadDataSource, and none is primary: %s"
                            .formatted(several.getBeanNamesFound()),
                    "Remove @VirtualThreadDataSource from all but one of them.");
        }
        return found == null ? bean(DataSource.class, "JdbcClusterEngine") : found;
    }

    /** The bean that is primary, or the only one. */
    private <T> T bean(Class<T> type, String engine) {
        try {
            T bean = beans.getBeanProvider(type).getIfAvailable();
            if (bean == null) {
                throw mistake(
                        "%s.engine asks for a bean of type %s, and there is none".formatted(KEY, type.getSimpleName()),
                        "Configure the connection, or declare such a bean.");
            }
            return bean;
        } catch (NoUniqueBeanDefinitionException several) {
            throw mistake(
                    "there are several beans of type %s, and none is primary: %s"
                            .formatted(type.getSimpleName(), several.getBeanNamesFound()),
                    (type == DataSource.class ? "Put @VirtualThreadDataSource on the one to use" : "Mark one @Primary")
                            + ", or declare a bean of type ClusterEngine: new %s(the one to use, a name for the cluster)."
                                    .formatted(engine));
        }
    }

    /** Applications of the same name share limits of the same name. */
    private String name() {
        String name = properties.name();
        String known = StringUtils.hasText(name) ? name : environment.getProperty("spring.application.name");
        if (!StringUtils.hasText(known)) {
            throw mistake(
                    "neither %s.name nor spring.application.name is set, so that other applications with a limit of this name"
                                    .formatted(KEY)
                            + " would share it",
                    "Set spring.application.name, or %s.name, to the same name in all replicas.".formatted(KEY));
        }
        return known.strip();
    }

    private boolean isPresent(String type) {
        return ClassUtils.isPresent(type, beans.getBeanClassLoader());
    }

    private boolean isBean(Class<?> type) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false).length > 0;
    }

    static VirtualThreadConfigurationException mistake(String description, String action) {
        return new VirtualThreadConfigurationException(List.of(new Mistake(description, action)));
    }
}
