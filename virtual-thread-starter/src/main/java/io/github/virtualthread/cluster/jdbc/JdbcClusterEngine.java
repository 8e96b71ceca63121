package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Lends permits by the database of the application: PostgreSQL, MariaDB, MySQL or H2. Each exchange borrows one connection, in
 * auto-commit mode, and gives it back as it was. A limit is a row, which a replica replaces if no other one has done so since it was
 * read. So no lock lasts longer than a statement, and a replica that stands still stops nobody.
 *
 * <p>Opens no connection before the first exchange. The table has to be there; applications may share it. A row is never deleted,
 * because there are few: one for each limit. A row of a limit that nobody shares any more may be deleted by hand.
 */
public final class JdbcClusterEngine implements ClusterEngine {

    private static final int ATTEMPTS = 5;

    private final DataSource dataSource;
    private final String cluster;
    private final String table;

    /**
     * Creates an engine with the table {@code virtual_thread_limit}.
     *
     * @param dataSource of the database; no connection is opened here
     * @param cluster name that all replicas of the application share, and no other application; at most 100 characters
     */
    public JdbcClusterEngine(DataSource dataSource, String cluster) {
        this(dataSource, cluster, TableName.DEFAULT);
    }

    /**
     * Creates an engine.
     *
     * @param dataSource of the database; no connection is opened here
     * @param cluster name that all replicas of the application share, and no other application; at most 100 characters
     * @param table name of the table, with its schema if wanted, such as {@code app.virtual_thread_limit}; letters, digits,
     *     {@code _} and {@code $}, at most 200 characters with at most two dots; the same in all replicas
     * @throws IllegalArgumentException if that is not the name of a table
     */
    public JdbcClusterEngine(DataSource dataSource, String cluster, String table) {
        if (!TableName.isAllowed(table)) {
            throw new IllegalArgumentException("Property virtual-thread.cluster.jdbc.table " + TableName.RULE
                    + ", such as " + TableName.EXAMPLE + ", was '" + table + "'");
        }
        this.dataSource = dataSource;
        this.cluster = cluster;
        this.table = table;
    }

    @Override
    public List<Answer> exchange(List<Claim> claims) throws SQLException, InterruptedException {
        long begun = System.nanoTime();
        try (Connection connection = dataSource.getConnection();
                Before before = new Before(connection)) {
            before.prepare();
            return new Exchange(connection, Database.of(connection), table, cluster, begun).lend(claims);
        } catch (SQLException failure) {
            if (isMissingTable(failure)) {
                return Collections.nCopies(claims.size(), Answer.refused(missing()));
            }
            throw failure;
        }
    }

    /** Not an engine that cannot be reached: nobody should look for it in the network. */
    private String missing() {
        return "Table " + table
                + " is missing: it was dropped, or the user sees another schema now. Create it by schema-*.sql"
                + " beside " + getClass().getName() + " in the jar, or start one replica anew with"
                + " virtual-thread.cluster.jdbc.initialize-schema: always";
    }

    /**
     * Returns where the connections come from, so that the start can compare the pool with the limits.
     *
     * @return what the engine was created with
     */
    public DataSource dataSource() {
        return dataSource;
    }

    /** A row that changes each time is dead at once, in PostgreSQL: fewer of them than with Redis. */
    @Override
    public Duration beat() {
        return Duration.ofMillis(500);
    }

    /**
     * Returns whether the table is there.
     *
     * @return whether the table is there
     * @throws SQLException if the database cannot be reached, or the table has other columns, or may not be read
     * @throws IllegalStateException if the database is none of those that the engine knows
     */
    public boolean isInitialized() throws SQLException {
        try {
            execute(known -> "select cluster_name, limit_name, version, ledger from " + table + " where 1 = 0");
            return true;
        } catch (SQLException failure) {
            if (isMissingTable(failure)) {
                return false;
            }
            throw failure;
        }
    }

    /**
     * Creates the table if it is not there.
     *
     * @throws SQLException if the database cannot be reached, or the user may not create a table
     * @throws IllegalStateException if the database is none of those that the engine knows
     */
    public void initialize() throws SQLException {
        for (int attempt = 1; !isInitialized(); attempt++) {
            try {
                execute(database -> database.schema(table));
                return;
            } catch (SQLException failure) {
                // another replica creates the table at this moment: a duplicate in a catalogue, a deadlock, a lock
                boolean isOfAnother = Database.says(failure, "23", "40", "HYT00");
                if (attempt == ATTEMPTS || !(isOfAnother || isInitialized())) {
                    throw failure;
                }
            }
        }
    }

    private void execute(Function<Database, String> sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Before before = new Before(connection)) {
            before.prepare();
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql.apply(Database.of(connection)));
            }
        }
    }

    /**
     * Returns the statement that creates the table in this database.
     *
     * @return the statement, with comments
     * @throws SQLException if the database cannot be reached
     * @throws IllegalStateException if the database is none of those that the engine knows
     */
    public String schema() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Database.of(connection).schema(table);
        }
    }

    /** Of PostgreSQL; of all others; and of H2 if the schema is missing. */
    private static boolean isMissingTable(SQLException failure) {
        return Database.says(failure, "42P01", "42S0", "90079");
    }

    /** A connection as it came: it goes back to the pool so. */
    private static final class Before implements AutoCloseable {

        private final Connection connection;
        private final boolean autoCommit;
        private final boolean readOnly;

        Before(Connection connection) throws SQLException {
            this.connection = connection;
            this.autoCommit = connection.getAutoCommit();
            this.readOnly = connection.isReadOnly();
        }

        /** Outside a transaction a connection may change to writing. */
        void prepare() throws SQLException {
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
            if (readOnly) {
                connection.setReadOnly(false);
            }
        }

        @Override
        public void close() throws SQLException {
            if (readOnly) {
                connection.setReadOnly(true);
            }
            if (!autoCommit) {
                connection.setAutoCommit(false);
            }
        }
    }
}
