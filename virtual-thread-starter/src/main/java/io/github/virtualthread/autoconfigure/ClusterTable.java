package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Cluster.InitializeSchema;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.PropertyKeys;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.util.ClassUtils;

/** The engine that lends permits by the database, and its table, which is created if that is wanted. */
final class ClusterTable {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);
    private static final String KEY = ClusterEngines.KEY + ".jdbc.initialize-schema";

    private final DataSource dataSource;
    private final JdbcClusterEngine engine;
    private final ConfigurableListableBeanFactory beans;

    ClusterTable(DataSource dataSource, String cluster, ConfigurableListableBeanFactory beans) {
        this.dataSource = dataSource;
        this.engine = new JdbcClusterEngine(dataSource, cluster);
        this.beans = beans;
    }

    /** A database that cannot be reached yet does not fail the start: the replica goes on as if it were lost later. */
    ClusterEngine engine(InitializeSchema mode) {
        warnOfHeadroom();
        boolean isThere = true;
        try {
            if (isWanted(mode)) {
                engine.initialize();
            } else {
                isThere = engine.isInitialized();
            }
        } catch (IllegalStateException unknown) {
            throw ClusterEngines.mistake(
                    "the database cannot lend them: " + unknown.getMessage(),
                    "Set %s.engine to redis, or declare a bean of type ClusterEngine.".formatted(ClusterEngines.KEY));
        } catch (SQLException failure) {
            if (isOfTheTable(failure)) {
                throw ClusterEngines.mistake(
                        "the table virtual_thread_limit cannot be used or created: " + failure.getMessage(),
                        "Create it as below, with a user who may, and let the user of the application read and change it:%n%s"
                                .formatted(schema()));
            }
            logNotReached(failure);
        } catch (RuntimeException failure) { // as pools throw it that cannot open their first connection
            logNotReached(failure);
        }
        if (!isThere) {
            throw ClusterEngines.mistake(
                    "the table virtual_thread_limit is missing in the database",
                    "Create it as you create other tables, or set %s to always:%n%s".formatted(KEY, schema()));
        }
        return engine;
    }

    private boolean isWanted(InitializeSchema mode) {
        return switch (mode) {
            case ALWAYS -> true;
            case NEVER -> false;
            case EMBEDDED ->
                ClassUtils.isPresent("org.springframework.jdbc.core.JdbcTemplate", beans.getBeanClassLoader())
                        && EmbeddedDatabaseConnection.isEmbedded(dataSource);
        };
    }

    /** SQL is wrong, or not allowed: class 42, in all databases. */
    private static boolean isOfTheTable(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && state.startsWith("42");
    }

    private String schema() {
        try {
            return engine.schema().strip();
        } catch (SQLException failure) {
            return "(the statement is in schema-*.sql beside %s in the jar)"
                    .formatted(JdbcClusterEngine.class.getName());
        }
    }

    private static void logNotReached(Exception failure) {
        logger.warn(
                "The database that lends permits to all replicas cannot be reached, so that the table virtual_thread_limit has"
                        + " been neither checked nor created: {}",
                failure.toString());
    }

    /** Where calls may hold all connections of the pool, an exchange waits for one of them to end. */
    private void warnOfHeadroom() {
        beans.getBeanProvider(TaskLimits.class)
                .ifAvailable(limits -> limits.all().forEach(this::warnOfHeadroom));
    }

    private void warnOfHeadroom(TaskLimit limit) {
        PermitsFrom from = limit.permitsFrom();
        // the bean exists: it is the one that is looked for, or does not matter
        if (from != null && from.headroom() == 0 && dataSource.equals(beans.getSingleton(from.bean()))) {
            logger.warn(
                    "Limit '{}' lets its calls take all connections of bean '{}', which the engine of cluster-permits needs, too:"
                            + " an exchange then waits for a call to end, and the lease may be over before. Set {}.headroom: 1",
                    limit.name(),
                    from.bean(),
                    PropertyKeys.limit(limit.name()));
        }
    }
}
