package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.properties.ClusterSettingsFactory;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Cluster;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Cluster.Engine;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Cluster.InitializeSchema;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Chooses and creates what lends permits to replicas. The descriptions of mistakes go on after "Limit 'x' has cluster-permits, but".
 *
 * @param own data sources that are for the engine alone
 */
record ClusterEngines(
        Cluster properties,
        Environment environment,
        ConfigurableListableBeanFactory beans,
        ObjectProvider<DataSource> own) {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);
    private static final String KEY = "virtual-thread.cluster";
    private static final String REDIS = "org.springframework.data.redis.core.StringRedisTemplate";

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
            return jdbc();
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
                        + " ClusterStore",
                "Add spring-boot-starter-data-redis or spring-boot-starter-jdbc, and configure its connection; or declare a bean of"
                        + " type ClusterStore. Otherwise remove cluster-permits, and set permits to the part of each replica.");
    }

    /**
     * The database and its table, which is created if that is wanted. A database that cannot be reached yet does not fail the start: the
     * replica goes on as if it were lost later.
     */
    private ClusterEngine jdbc() {
        String table = ClusterSettingsFactory.table(properties);
        JdbcClusterStore store = new JdbcClusterStore(dataSource(), name(), table);
        boolean isThere = true;
        try {
            if (isTableWanted(store.dataSource())) {
                store.initialize();
            } else {
                isThere = store.isInitialized();
            }
            if (isEmbedded(store.dataSource())) {
                logger.warn(
                        "The database that lends permits to all replicas is embedded in this application: each replica has its"
                                + " own, and lends itself all permits. Outside of tests and development, use Redis or a database"
                                + " server");
            }
        } catch (IllegalStateException unknown) {
            throw mistake(
                    "the database cannot lend them: " + unknown.getMessage(),
                    "Set %s.engine to redis, or declare a bean of type ClusterStore.".formatted(KEY));
        } catch (SQLException | RuntimeException failure) {
            // the latter of pools that cannot open their first connection
            if (failure instanceof SQLException refused && isOfTheTable(refused)) {
                throw mistake(
                        "the table %s cannot be used or created: %s".formatted(table, failure.getMessage()),
                        "Create it as below, with a user who may, and let the user of the application read and change it:%n%s"
                                .formatted(schema(store)));
            }
            logger.warn(
                    "The database that lends permits to all replicas cannot be reached, so that the table {} has been"
                            + " neither checked nor created: {}",
                    table,
                    failure.toString());
        }
        if (!isThere) {
            throw mistake(
                    "the table %s is missing in the database".formatted(table),
                    "Create it as you create other tables, or set %s.jdbc.initialize-schema to always:%n%s"
                            .formatted(KEY, schema(store)));
        }
        return new StoredLimits(store);
    }

    private boolean isTableWanted(DataSource dataSource) {
        InitializeSchema mode = properties.jdbc().initializeSchema();
        return mode == InitializeSchema.ALWAYS || (mode == InitializeSchema.EMBEDDED && isEmbedded(dataSource));
    }

    private boolean isEmbedded(DataSource dataSource) {
        return isPresent("org.springframework.jdbc.core.JdbcTemplate")
                && EmbeddedDatabaseConnection.isEmbedded(dataSource);
    }

    /** SQL is wrong, or not allowed: class 42, in all databases. Or the schema is missing, in PostgreSQL and H2. */
    private static boolean isOfTheTable(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("42") || state.equals("3F000") || state.equals("90079"));
    }

    private static String schema(JdbcClusterStore store) {
        try {
            return store.schema().strip();
        } catch (SQLException failure) {
            return "(the statement is in schema-*.sql beside %s in the jar)"
                    .formatted(JdbcClusterStore.class.getName());
        }
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
        return found == null ? bean(DataSource.class, "JdbcClusterStore") : found;
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
                            + ", or declare a bean: new %s(the one to use, a name for the cluster).".formatted(engine));
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

    private static VirtualThreadConfigurationException mistake(String description, String action) {
        return new VirtualThreadConfigurationException(List.of(new Mistake(description, action)));
    }
}
