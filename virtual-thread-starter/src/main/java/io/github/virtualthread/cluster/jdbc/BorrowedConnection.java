package io.github.virtualthread.cluster.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * A connection in auto-commit mode that may write. It goes back to the pool as it came.
 *
 * @param connection the connection
 * @param autoCommit whether it came in auto-commit mode
 * @param readOnly whether it came as one that only reads
 */
record BorrowedConnection(Connection connection, boolean autoCommit, boolean readOnly) implements AutoCloseable {

    static BorrowedConnection from(DataSource dataSource) throws SQLException {
        Connection connection = dataSource.getConnection();
        try {
            BorrowedConnection borrowed =
                    new BorrowedConnection(connection, connection.getAutoCommit(), connection.isReadOnly());
            borrowed.prepare();
            return borrowed;
        } catch (Throwable failure) {
            try (connection) {
                throw failure;
            }
        }
    }

    /** Outside a transaction a connection may change to writing. */
    private void prepare() throws SQLException {
        if (!autoCommit) {
            connection.setAutoCommit(true);
        }
        if (readOnly) {
            connection.setReadOnly(false);
        }
    }

    @Override
    public void close() throws SQLException {
        try (connection) {
            if (readOnly) {
                connection.setReadOnly(true);
            }
            if (!autoCommit) {
                connection.setAutoCommit(false);
            }
        }
    }
}
