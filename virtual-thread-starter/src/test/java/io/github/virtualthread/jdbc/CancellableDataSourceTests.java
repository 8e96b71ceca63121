package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbc.JdbcStatement;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands between a pool and a driver. */
@Timeout(300)
class CancellableDataSourceTests {

    @RegisterExtension
    private final JdbcEngine test = new JdbcEngine();

    private final JdbcDataSource h2 = new JdbcDataSource();
    private final CancellableDataSource source = new CancellableDataSource(() -> h2);
    private final HikariDataSource pool = new HikariDataSource();

    CancellableDataSourceTests() {
        h2.setURL("jdbc:h2:mem:");
        pool.setMaximumPoolSize(1);
        pool.setDataSource(source);
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    @Test
    void theDriverIsFoundBelow() throws SQLException {
        assertThat(source.isWrapperFor(JdbcDataSource.class)).isTrue();
        assertThat(source.unwrap(JdbcDataSource.class)).isSameAs(h2);
        assertThat(source.unwrap(CancellableDataSource.class)).isSameAs(source);
        assertThat(source.isWrapperFor(String.class)).isFalse();
        try (Connection pooled = pool.getConnection();
                Statement statement = pooled.createStatement()) {
            assertThat(pooled.isWrapperFor(JdbcConnection.class)).isTrue();
            assertThat(pooled.unwrap(JdbcConnection.class)).isNotNull();
            assertThat(statement.unwrap(JdbcStatement.class)).isNotNull();
            assertThatThrownBy(() -> pooled.unwrap(String.class)).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void whatIsOfJdbcStaysGuarded() throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement("select 1");
                ResultSet rows = statement.executeQuery();
                CallableStatement call = connection.prepareCall("call 1")) {
            assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
            assertThat(statement.unwrap(Statement.class)).isSameAs(statement);
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(rows.getStatement()).isSameAs(statement);
            assertThat(call.getConnection()).isSameAs(connection);
        }
    }

    @Test
    void objectsAreEqualToThemselvesOnly() throws SQLException {
        try (Connection connection = source.getConnection();
                Connection other = source.getConnection()) {
            assertThat(connection.equals(connection.unwrap(Connection.class))).isTrue();
            assertThat(connection).isNotEqualTo(other).hasSameHashCodeAs(connection);
            assertThat(connection.equals(null)).isFalse();
            assertThat(connection.toString()).startsWith("conn");
        }
    }

    @Test
    void failuresOfTheDriverComeAsTheyAre() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("nonsense"))
                    .isInstanceOf(org.h2.jdbc.JdbcSQLSyntaxErrorException.class);
            assertThatThrownBy(() -> connection.setClientInfo("nonsense", "x"))
                    .isInstanceOf(java.sql.SQLClientInfoException.class);
            assertThat(statement.enquoteLiteral("it's")).isEqualTo("'it''s'"); // a default method of the interface
        }
    }

    /** As the driver of MySQL does with the executor. */
    @Test
    void aNetworkTimeoutIsSetBeforeTheNextStatement() throws SQLException {
        AtomicInteger set = new AtomicInteger();
        Connection driver = mock();
        doAnswer(call -> {
                    call.<Executor>getArgument(0).execute(() -> set.set(call.getArgument(1)));
                    return null;
                })
                .when(driver)
                .setNetworkTimeout(any(), anyInt());
        DataSource raw = mock();
        when(raw.getConnection()).thenReturn(driver);

        new CancellableDataSource(() -> raw).getConnection().setNetworkTimeout(later -> {}, 5);

        assertThat(set).hasValue(5);
    }

    @Test
    void rowsThatAreChangedAreGuardedWithoutAFetchSize() throws SQLException {
        FakeDriver driver = new FakeDriver();
        driver.on("getResultSetConcurrency", () -> ResultSet.CONCUR_UPDATABLE).on("getFetchSize", () -> 0);
        try (Connection connection = new CancellableDataSource(driver::dataSource).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select 1")) {
            assertThat(rows.getStatement()).isSameAs(statement);
        }
    }

    /** H2 notes a cancel with the SQL; one that comes too late would end the next statement with the same SQL, whosever it is. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCancelThatIsTooLateForH2DoesNotEndTheNextStatement(boolean prepared) throws Exception {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create alias late for '%s.late'".formatted(Late.class.getName()));
        }
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Void> first = new CompletableFuture<>();
        Late.begin = running::countDown;
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            try {
                late(prepared, true);
                first.complete(null);
            } catch (SQLException failure) {
                first.completeExceptionally(failure);
                running.countDown();
            }
            return null;
        });
        FakeDriver.await(running);

        call.cancel(true);

        assertThat(first).succeedsWithin(Duration.ofMinutes(5)); // its own cancel was too late
        Late.begin = () -> {};
        assertThatNoException().isThrownBy(() -> late(prepared, false));
    }

    /** A function of H2, which finds it in a public class. After it there is nothing left that a cancel could end. */
    public static final class Late {

        private static volatile Runnable begin = () -> {};
        private static volatile @Nullable JdbcStatement cancelled;

        private Late() {}

        public static int late() {
            begin.run();
            JdbcStatement statement = cancelled;
            while (statement != null && !statement.isCancelled()) {
                Thread.onSpinWait();
            }
            return 1;
        }
    }

    private void late(boolean prepared, boolean awaitsCancel) throws SQLException {
        String sql =
                "select case x when 1000 then late() end from system_range(1, 1000)"; // H2 looks at every 128th row
        try (Connection connection = pool.getConnection();
                Statement statement = prepared ? connection.prepareStatement(sql) : connection.createStatement()) {
            Late.cancelled = awaitsCancel ? statement.unwrap(JdbcStatement.class) : null;
            if (statement instanceof PreparedStatement ofSql) {
                ofSql.execute();
            } else {
                statement.execute(sql);
            }
        }
    }

    @Test
    void aPoolKeepsTheConnectionOfACancelledStatement() throws Exception {
        assertThat(connectionsAfter(new SQLTimeoutException("canceled", "57014")))
                .isEqualTo(1);
    }

    @Test
    void aPoolDropsAConnectionThatBrokeMeanwhile() throws Exception {
        assertThat(connectionsAfter(new SQLException("I/O error", "08006"))).isEqualTo(2);
    }

    /** How many connections a pool of one has needed. */
    private long connectionsAfter(SQLException failure) throws Exception {
        FakeDriver driver = new FakeDriver();
        Held execute = driver.hold("execute");
        driver.on("cancel", () -> execute.end.completeExceptionally(failure));
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setMaximumPoolSize(1);
            pool.setDataSource(new CancellableDataSource(driver::dataSource));
            CompletableFuture<@Nullable Object> call = test.submit(() -> {
                try (Connection connection = pool.getConnection();
                        Statement statement = connection.createStatement()) {
                    return statement.execute("select 1");
                }
            });
            execute.awaitBegin();
            call.cancel(true);
            pool.getConnection().close();
        }
        assertThat(test.outcomes).containsExactly(StatementOutcome.CANCELLED);
        return driver.calls.stream().filter("getConnection"::equals).count();
    }
}
