package io.github.virtualthread.cluster.jdbc;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.sql.DataSource;

/**
 * Lends permits by the database of the application: PostgreSQL, MariaDB, MySQL or H2. Each exchange borrows one connection for one
 * transaction, with the isolation {@code READ COMMITTED}, and gives it back as it was.
 *
 * <p>Opens no connection before the first exchange. The table {@code virtual_thread_limit} has to be there; applications may share it.
 */
public final class JdbcClusterEngine implements ClusterEngine {

    private static final int ATTEMPTS = 5;
    private static final Duration IDLE = Duration.ofHours(1);

    private final DataSource dataSource;
    private final String cluster;
    private volatile long forgotAt = System.nanoTime();

    /**
     * Creates an engine.
     *
     * @param dataSource of the database; no connection is opened here
     * @param cluster name that all replicas of the application share, and no other application; at most 100 characters
     */
    public JdbcClusterEngine(DataSource dataSource, String cluster) {
        this.dataSource = dataSource;
        this.cluster = cluster;
    }

    @Override
    public List<Answer> exchange(List<Claim> claims) throws SQLException {
        List<Answer> answers = inTransaction(connection -> lend(claims, new LimitTable(connection, cluster)));
        long now = System.nanoTime();
        if (now - forgotAt > IDLE.toNanos()) {
            forgotAt = now;
            forget(IDLE);
        }
        return answers;
    }

    /** Deletes what nobody has claimed for so long. In a transaction of its own, with locks of its own. */
    void forget(Duration idle) {
        try {
            inTransaction(connection -> {
                new LimitTable(connection, cluster).forget(idle);
                return true;
            });
        } catch (SQLException failure) {
            // the next time, or another replica
        }
    }

    private static List<Answer> lend(List<Claim> claims, LimitTable table) throws SQLException {
        SortedSet<String> names = new TreeSet<>();
        claims.forEach(claim -> names.add(claim.limit()));
        table.lock(names);
        Map<String, LimitRows> limits = table.read(names);
        List<Answer> answers = new ArrayList<>();
        for (Claim claim : claims) {
            answers.add(LimitTable.rows(limits, claim.limit()).lend(claim, table.now()));
        }
        table.write(limits, claims.getFirst().member());
        return answers;
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
            return inTransaction(connection -> {
                Database.of(connection);
                LimitTable.find(connection);
                return true;
            });
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
        if (isInitialized()) {
            return;
        }
        try {
            inTransaction(connection -> {
                try (Statement statement = connection.createStatement()) {
                    return statement.execute(Database.of(connection).schema());
                }
            });
        } catch (SQLException failure) {
            if (!isInitialized()) { // otherwise, another replica has created it meanwhile
                throw failure;
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
            return Database.of(connection).schema();
        }
    }

    private static boolean isMissingTable(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.equals("42P01") || state.startsWith("42S0")); // PostgreSQL, all others
    }

    private interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    private <T> T inTransaction(Work<T> work) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Before before = Before.of(connection)) {
            before.prepare();
            for (int attempt = 1; ; attempt++) {
                try {
                    T result = work.in(connection);
                    connection.commit();
                    return result;
                } catch (SQLException | RuntimeException | Error failure) {
                    rollBack(connection, failure);
                    if (attempt == ATTEMPTS || !isWorthAnotherAttempt(failure)) {
                        throw failure;
                    }
                }
            }
        }
    }

    /** Another member was faster: it inserted the same row, or there was a deadlock, or a lock came too late. */
    private static boolean isWorthAnotherAttempt(Throwable failure) {
        String state = failure instanceof SQLException sql ? sql.getSQLState() : null;
        return state != null
                && (state.startsWith("23") || state.startsWith("40") || state.equals("HYT00") || state.equals("90131"))
                && !Thread.currentThread().isInterrupted();
    }

    private static void rollBack(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** How a connection came; it goes back to the pool as it was. */
    private record Before(Connection connection, boolean autoCommit, boolean readOnly, int isolation)
            implements AutoCloseable {

        static Before of(Connection connection) throws SQLException {
            return new Before(
                    connection,
                    connection.getAutoCommit(),
                    connection.isReadOnly(),
                    connection.getTransactionIsolation());
        }

        /** Members wait for each other at the locks; then they have to see what was committed meanwhile. */
        void prepare() throws SQLException {
            if (readOnly) {
                connection.setReadOnly(false);
            }
            if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            if (autoCommit) {
                connection.setAutoCommit(false);
            }
        }

        @Override
        public void close() throws SQLException {
            if (autoCommit) {
                connection.setAutoCommit(true);
            }
            if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(isolation);
            }
            if (readOnly) {
                connection.setReadOnly(true);
            }
        }
    }
}
