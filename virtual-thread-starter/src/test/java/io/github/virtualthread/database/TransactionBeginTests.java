package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.jdbc.CancellableDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The driver of PostgreSQL sends {@code BEGIN} together with the first statement of a transaction. If a cancel hit {@code BEGIN}, that
 * statement would be executed outside of the transaction, and committed.
 */
@Timeout(300)
@Tag("slow")
class TransactionBeginTests {

    private final List<TransactionState> states = new ArrayList<>(); // when the driver gets a statement

    @Test
    void aTransactionHasBegunBeforeAStatementOfABodyCanBeCancelled() throws Exception {
        String url = TestPostgres.newDatabase();
        try (StoppedCalls calls = new StoppedCalls(url, 1, StoppedCalls.LONG)) {
            CancellableDataSource source = new CancellableDataSource(() -> watched(url));
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("create table lines (x int)");
                calls.submit(() -> {
                            use(connection);
                            return null;
                        })
                        .get(4, TimeUnit.MINUTES);
                assertThat(states)
                        .containsExactly(
                                TransactionState.OPEN,
                                TransactionState.OPEN,
                                TransactionState.OPEN,
                                TransactionState.IDLE);
                states.clear();
                use(connection);
                assertThat(states)
                        .as("costs nothing where no body can be stopped")
                        .containsExactly(
                                TransactionState.IDLE,
                                TransactionState.OPEN,
                                TransactionState.IDLE,
                                TransactionState.IDLE);
            }
        }
    }

    /** Two statements in a transaction, one in the next, and one without. */
    private static void use(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        insert(connection);
        insert(connection);
        connection.commit();
        insert(connection);
        connection.rollback();
        connection.setAutoCommit(true);
        insert(connection);
    }

    private static void insert(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into lines values (1)")) {
            insert.executeUpdate();
        }
    }

    private PGSimpleDataSource watched(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                Connection raw = super.getConnection();
                return watched(Connection.class, raw, raw.unwrap(BaseConnection.class));
            }
        };
        source.setUrl(url);
        return source;
    }

    private <T> T watched(Class<T> type, Object raw, BaseConnection connection) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (method.getName().equals("executeUpdate")) {
                states.add(connection.getTransactionState());
            }
            try {
                Object result = method.invoke(raw, args);
                return method.getName().equals("prepareStatement")
                        ? watched(PreparedStatement.class, result, connection)
                        : result;
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }));
    }
}
