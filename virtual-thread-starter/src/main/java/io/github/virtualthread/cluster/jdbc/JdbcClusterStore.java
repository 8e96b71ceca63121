package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.ClusterStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The database of the application, PostgreSQL, MariaDB, MySQL or H2, as the place of what is lent to replicas. Each exchange borrows
 * one connection, in auto-commit mode, and gives it back as it was. A limit is a row, which a replica replaces if no other one has done
 * so since it was read. So no lock lasts longer than a statement, and a replica that stands still stops nobody.
 *
 * <p>Opens no connection before the first exchange. The table has to be there; applications may share it. A row is never deleted,
 * because there are few: one for each limit. A row of a limit that nobody shares any more may be deleted by hand.
 */
public final class JdbcClusterStore implements ClusterStore {

    private static final int ATTEMPTS = 5;

    private final DataSource dataSource;
    private final String cluster;
    private final String table;
    private volatile @Nullable String server; // SQL for its name, once it is known

    /**
     * Creates a store with the table {@code virtual_thread_limit}.
     *
     * @param dataSource of the database; no connection is opened here
     * @param cluster name that all replicas of the application share, and no other application; at most 100 characters
     */
    public JdbcClusterStore(DataSource dataSource, String cluster) {
        this(dataSource, cluster, TableName.DEFAULT);
    }

    /**
     * Creates a store.
     *
     * @param dataSource of the database; no connection is opened here
     * @param cluster name that all replicas of the application share, and no other application; at most 100 characters
     * @param table name of the table, with its schema if wanted, such as {@code app.virtual_thread_limit}; letters, digits,
     *     {@code _} and {@code $}, at most 200 characters with at most two dots; the same in all replicas
     * @throws IllegalArgumentException if that is not the name of a table
     */
    public JdbcClusterStore(DataSource dataSource, String cluster, String table) {
        if (!TableName.isAllowed(table)) {
            throw new IllegalArgumentException("Property virtual-thread.cluster.jdbc.table " + TableName.RULE
                    + ", such as " + TableName.EXAMPLE + ", was '" + table + "'");
        }
        this.dataSource = dataSource;
        this.cluster = cluster;
        this.table = table;
    }

    @Override
    public Session open() throws SQLException {
        BorrowedConnection borrowed = BorrowedConnection.from(dataSource);
        try {
            Connection connection = borrowed.connection();
            Database database = Database.of(connection);
            return new JdbcSession(borrowed, database, server(database, connection), table, cluster, new HashSet<>());
        } catch (Throwable failure) {
            try (borrowed) {
                throw failure;
            }
        }
    }

    /** Asks the database once. */
    private String server(Database database, Connection connection) throws SQLException {
        String known = server;
        if (known == null) {
            known = database.server(connection);
            server = known;
        }
        return known;
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
     * @throws IllegalStateException if the database is none of those that this store knows
     */
    public boolean isInitialized() throws SQLException {
        try {
            execute(known -> "select cluster_name, limit_name, version, ledger from " + table + " where 1 = 0");
            return true;
        } catch (SQLException failure) {
            if (Database.isMissingTable(failure)) {
                return false;
            }
            throw failure;
        }
    }

    /**
     * Creates the table if it is not there.
     *
     * @throws SQLException if the database cannot be reached, or the user may not create a table
     * @throws IllegalStateException if the database is none of those that this store knows
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
        try (BorrowedConnection borrowed = BorrowedConnection.from(dataSource);
                Statement statement = borrowed.connection().createStatement()) {
            statement.execute(sql.apply(Database.of(borrowed.connection())));
        }
    }

    /**
     * Returns the statement that creates the table in this database.
     *
     * @return the statement, with comments
     * @throws SQLException if the database cannot be reached
     * @throws IllegalStateException if the database is none of those that this store knows
     */
    public String schema() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Database.of(connection).schema(table);
        }
    }

    /** As messages name it. */
    @Override
    public String toString() {
        return "table " + table + " of cluster '" + cluster + "'";
    }
}
