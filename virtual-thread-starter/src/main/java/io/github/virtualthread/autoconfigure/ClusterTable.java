package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.VirtualThreadProperties.Cluster.InitializeSchema;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.limit.TaskLimits;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.util.ClassUtils;

/** The engine that lends permits by the database, and its table, which is created if that is wanted. */
final class ClusterTable {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimits.class);
    private static final String KEY = ClusterEngines.KEY + ".jdbc.initialize-schema";

    private final DataSource dataSource;
    private final JdbcClusterEngine engine;
    private final String table;
    private final @Nullable ClassLoader classLoader;

    ClusterTable(DataSource dataSource, String cluster, String table, @Nullable ClassLoader classLoader) {
        this.dataSource = dataSource;
        this.engine = new JdbcClusterEngine(dataSource, cluster, table);
        this.table = table;
        this.classLoader = classLoader;
    }

    /** A database that cannot be reached yet does not fail the start: the replica goes on as if it were lost later. */
    ClusterEngine engine(InitializeSchema mode) {
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
        } catch (SQLException
                | RuntimeException failure) { // the latter of pools that cannot open their first connection
            if (failure instanceof SQLException refused && isOfTheTable(refused)) {
                throw ClusterEngines.mistake(
                        "the table %s cannot be used or created: %s".formatted(table, failure.getMessage()),
                        "Create it as below, with a user who may, and let the user of the application read and change it:%n%s"
                                .formatted(schema()));
            }
            logger.warn(
                    "The database that lends permits to all replicas cannot be reached, so that the table {} has been"
                            + " neither checked nor created: {}",
                    table,
                    failure.toString());
        }
        if (!isThere) {
            throw ClusterEngines.mistake(
                    "the table %s is missing in the database".formatted(table),
                    "Create it as you create other tables, or set %s to always:%n%s".formatted(KEY, schema()));
        }
        return engine;
    }

    private boolean isWanted(InitializeSchema mode) {
        return mode == InitializeSchema.ALWAYS
                || (mode == InitializeSchema.EMBEDDED
                        && ClassUtils.isPresent("org.springframework.jdbc.core.JdbcTemplate", classLoader)
                        && EmbeddedDatabaseConnection.isEmbedded(dataSource));
    }

    /** SQL is wrong, or not allowed: class 42, in all databases. Or the schema is missing, in PostgreSQL and H2. */
    private static boolean isOfTheTable(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("42") || state.equals("3F000") || state.equals("90079"));
    }

    private String schema() {
        try {
            return engine.schema().strip();
        } catch (SQLException failure) {
            return "(the statement is in schema-*.sql beside %s in the jar)"
                    .formatted(JdbcClusterEngine.class.getName());
        }
    }
}
