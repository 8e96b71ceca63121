package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Connections that are closed because their cancel did not return, or went to a clean-up. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ClosedConnectionTests extends DriverCalls {

    /** A cancel has to return soon. */
    private static final Times SHORT_CANCEL = new Times(Duration.ofMillis(1), ENOUGH, SHORT, ENOUGH);

    @Test
    void aCancelThatDoesNotReturnClosesTheConnection(CapturedOutput output) throws Exception {
        Held execute = driver.hold("execute");
        Held cancel = driver.hold("cancel");
        Connection connection = connection(SHORT_CANCEL);

        stop(execute, () -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("select secret");
            } // its close is no second statement that is aborted
        });

        assertThat(caught()).isExactlyInstanceOf(SQLException.class).hasMessage("I/O error");
        assertClosed(connection);
        assertWarned(
                output,
                1,
                "Shop.price was cancelled under limit 'none'. A cancel of its statement did not return within 0.05s. Its");
        assertThat(output).doesNotContain("secret");
        cancel.end.complete(null);
    }

    @Test
    void aConnectionThatCannotBeClosedAfterItsCancelDidNotReturnIsWarnedOf(CapturedOutput output) throws Exception {
        Held execute = driver.hold("execute");
        Held cancel = driver.hold("cancel");
        driver.on("abort", () -> {
            throw new SQLException("no abort");
        });

        stopStatement(execute, SHORT_CANCEL);

        assertWarned(
                output,
                2,
                "The connection of Shop.price could not be closed after a cancel of its statement did not return. Nobody uses"
                        + " it any more: look for its session in the database, and end it there");
        assertThat(output).contains("no abort");
        cancel.end.complete(null);
    }

    @Test
    void aConnectionIsClosedWhoseStatementHasEndedButNotItsCancel() throws Exception {
        Held execute = driver.hold("execute");
        Held cancel = driver.hold("cancel");
        Connection connection = connection(SHORT_CANCEL);

        stop(execute, () -> connection.createStatement().execute("select 1"));
        cancel.awaitBegin();
        execute.end.complete(true);

        assertThat(caught()).isNull();
        assertClosed(connection);
        cancel.end.complete(null);
    }

    @Test
    void aPoolNeverHandsOutAConnectionThatWasClosed() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        Held execute = driver.hold("execute");
        Held cancel = driver.hold("cancel");
        driver.on("abort", () -> {
            FakeDriver.await(over); // the connection is back before
            return null;
        });
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setMaximumPoolSize(1);
            pool.setDataSource(new CancellableDataSource(driver::dataSource, SHORT_CANCEL));

            stop(execute, () -> {
                try (Connection connection = pool.getConnection()) {
                    connection.createStatement().execute("select 1");
                }
            });
            cancel.awaitBegin();
            execute.end.complete(true);

            Throwable atClose = caught();
            try (Connection next = pool.getConnection()) {
                assertThat(next.createStatement().execute("select 2")).isTrue();
            }
            assertThat(atClose).isInstanceOf(SQLNonTransientConnectionException.class);
            over.countDown();
            cancel.end.complete(null);
        }
    }

    private void assertClosed(Connection connection) throws Exception {
        await().atMost(ENOUGH).until(connection::isClosed);
        assertThat(test.outcomes).containsExactly(StatementOutcome.ABORTED);
        for (ThrowingCallable each : List.<ThrowingCallable>of(
                () -> connection.createStatement().execute("select 2"),
                () -> connection.prepareStatement("select 2"),
                connection::rollback,
                () -> connection.setAutoCommit(true))) {
            assertState(catchThrowable(each), "08006")
                    .isInstanceOf(SQLNonTransientConnectionException.class)
                    .hasMessageStartingWith("The connection has been closed, because a cancel");
        }
        assertThatThrownBy(() -> connection.setClientInfo("user", "me"))
                .isInstanceOf(java.sql.SQLClientInfoException.class);
        connection.close();
        assertThat(driver.calls).contains("Connection.close").doesNotContain("rollback", "setAutoCommit");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "reset role",
                " SET foreign_key_checks = 1",
                "unlock tables",
                "drop temporary table scratch",
                "use shop",
                "select pg_advisory_unlock(42)",
                "select release_lock('x')",
                "do release_all_locks()",
                "select set_config('role', 'none', false)"
            })
    void aCleanUpThatIsCancelledEndsItsConnection(String sql) throws Exception {
        Held execute = driver.hold("execute");
        driver.cancelEnds(execute);
        Connection connection = connection(PATIENT);

        stop(execute, () -> connection.createStatement().execute(sql));

        assertThat(caught())
                .isExactlyInstanceOf(SQLNonTransientConnectionException.class)
                .hasMessageStartingWith(
                        "The statement was cancelled: Shop.price was cancelled under limit 'none'. Its connection has been closed")
                .hasCause(execute.end.exceptionNow());
        assertThat(driver.calls).contains("Connection.close");
        assertThat(test.outcomes).containsExactly(StatementOutcome.CANCELLED);
    }
}
