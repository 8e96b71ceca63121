package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the driver still gets from a body that was stopped and goes on; and where the flag of an interrupt is meanwhile. */
@Timeout(300)
class StoppedBodyTests {

    private static final Duration ENOUGH = Duration.ofMinutes(5);

    @RegisterExtension
    private final JdbcEngine test = new JdbcEngine();

    private final FakeDriver driver = new FakeDriver();
    private final CountDownLatch running = new CountDownLatch(1);

    private Connection connection() throws SQLException {
        Times patient = new Times(ENOUGH, ENOUGH, ENOUGH, ENOUGH);
        Connection connection = new CancellableDataSource(driver::dataSource, patient).getConnection();
        driver.calls.clear();
        return connection;
    }

    /** What the driver is asked for. */
    private interface Use {

        void of(Connection connection, PreparedStatement statement, ResultSet rows) throws SQLException;
    }

    static Stream<Arguments> statements() {
        return Stream.of(
                use("execute", (connection, statement, rows) -> statement.execute()),
                use("executeQuery", (connection, statement, rows) -> statement.executeQuery()),
                use("executeUpdate", (connection, statement, rows) -> statement.executeUpdate("update")),
                use("executeLargeUpdate", (connection, statement, rows) -> statement.executeLargeUpdate()),
                use("executeBatch", (connection, statement, rows) -> statement.executeBatch()),
                use("executeLargeBatch", (connection, statement, rows) -> statement.executeLargeBatch()));
    }

    static Stream<Arguments> reads() {
        return Stream.of(
                use("getMoreResults", (connection, statement, rows) -> statement.getMoreResults()),
                use("getMetaData", (connection, statement, rows) -> statement.getMetaData()),
                use("getParameterMetaData", (connection, statement, rows) -> statement.getParameterMetaData()),
                use("next", (connection, statement, rows) -> rows.next()),
                use("absolute", (connection, statement, rows) -> rows.absolute(3)),
                use("isLast", (connection, statement, rows) -> rows.isLast()),
                use("updateRow", (connection, statement, rows) -> rows.updateRow()));
    }

    static Stream<Arguments> cleanUps() {
        return Stream.of(
                use("rollback", (connection, statement, rows) -> connection.rollback()),
                use("setReadOnly", (connection, statement, rows) -> connection.setReadOnly(false)),
                use("setAutoCommit", (connection, statement, rows) -> connection.setAutoCommit(false)),
                use("setTransactionIsolation", (connection, statement, rows) -> connection.setTransactionIsolation(2)),
                use("getWarnings", (connection, statement, rows) -> statement.getWarnings()),
                use("ResultSet.close", (connection, statement, rows) -> rows.close()),
                use("Statement.close", (connection, statement, rows) -> statement.close()),
                use("Connection.close", (connection, statement, rows) -> connection.close()));
    }

    /** They send nothing. */
    static Stream<Arguments> withoutTheDatabase() {
        return Stream.of(
                use(
                        "setNetworkTimeout",
                        (connection, statement, rows) -> connection.setNetworkTimeout(Runnable::run, 1)),
                use("setInt", (connection, statement, rows) -> statement.setInt(1, 1)),
                use("cancel", (connection, statement, rows) -> statement.cancel()));
    }

    private static Arguments use(String method, Use use) {
        return Arguments.of(method, use);
    }

    /** A body that goes on after its stop, and then raises the flag again. */
    private @Nullable Throwable stopped(Use use) throws Exception {
        CompletableFuture<@Nullable Throwable> failure = new CompletableFuture<>();
        Connection connection = connection();
        PreparedStatement statement = connection.prepareStatement("select ?");
        ResultSet rows = statement.executeQuery();
        driver.calls.clear();
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            running.countDown();
            try {
                FakeDriver.await(new CountDownLatch(1));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            Throwable thrown = catchThrowable(() -> use.of(connection, statement, rows));
            failure.complete(
                    Thread.currentThread().isInterrupted() ? thrown : new AssertionError("the flag is lost", thrown));
            return null;
        });
        FakeDriver.await(running);
        call.cancel(true);
        return failure.get(5, TimeUnit.MINUTES);
    }

    private void assertRefused(@Nullable Throwable failure) {
        assertThat(failure)
                .isExactlyInstanceOf(SQLNonTransientException.class)
                .hasMessage("The statement was not sent: Shop.price was cancelled under limit 'none'")
                .extracting(thrown -> ((SQLException) thrown).getSQLState())
                .isEqualTo("57014");
        assertThat(test.outcomes).containsExactly(StatementOutcome.REFUSED);
    }

    /** It may have been to clean up the session. */
    @ParameterizedTest
    @MethodSource("statements")
    void aStatementThatIsNotSentEndsItsConnection(String method, Use use) throws Exception {
        assertThat(stopped(use))
                .as(method)
                .isExactlyInstanceOf(SQLNonTransientConnectionException.class)
                .hasMessage(
                        "The statement was not sent: Shop.price was cancelled under limit 'none'. Its connection has been closed, because the"
                                + " next user must not get its session")
                .extracting(thrown -> ((SQLException) thrown).getSQLState())
                .isEqualTo("08006");
        assertThat(driver.calls).containsExactly("Connection.close");
        assertThat(test.outcomes).containsExactly(StatementOutcome.REFUSED);
    }

    /** A rollback takes back neither a lock nor what was set before the transaction. */
    @Test
    void aStatementOfATransactionEndsItsConnectionToo() throws Exception {
        assertThat(stopped((connection, statement, rows) -> {
                    connection.setAutoCommit(false);
                    statement.execute();
                }))
                .isExactlyInstanceOf(SQLNonTransientConnectionException.class);
        assertThat(driver.calls).containsExactly("setAutoCommit", "Connection.close");
    }

    @Test
    void nothingIsSentOnAConnectionThatWasEnded() throws Exception {
        Throwable failure = stopped((connection, statement, rows) -> {
            assertThatThrownBy(statement::execute).isInstanceOf(SQLNonTransientConnectionException.class);
            assertThatThrownBy(connection::rollback)
                    .isInstanceOf(SQLNonTransientConnectionException.class)
                    .hasMessageStartingWith(
                            "The statement was not sent: Shop.price was cancelled under limit 'none'. Its connection has been");
            statement.close();
            connection.close();
        });

        assertThat(failure).isNull();
        assertThat(driver.calls).containsExactly("Connection.close", "Statement.close", "Connection.close");
    }

    @Test
    void aConnectionThatCannotBeClosedIsNotUsedAllTheSame() throws Exception {
        driver.on("Connection.close", () -> {
            throw new SQLException("I/O error", "08006");
        });

        Throwable failure = stopped((connection, statement, rows) -> {
            assertThatThrownBy(statement::execute).hasMessageStartingWith("The statement was not sent");
            connection.createStatement().execute("select 1");
        });

        assertThat(failure).isInstanceOf(SQLNonTransientConnectionException.class);
        assertThat(driver.calls).containsExactly("Connection.close", "createStatement");
    }

    @ParameterizedTest
    @MethodSource("reads")
    void rowsAreNotRead(String method, Use use) throws Exception {
        assertRefused(stopped(use));
        assertThat(driver.calls).as(method).isEmpty();
    }

    @Test
    void rowsThatPostgresHasSentAreRead() throws Exception {
        driver.on("isWrapperFor", () -> true).on("getFetchSize", () -> 0);

        assertSent("next", (connection, statement, rows) -> rows.next());
    }

    @ParameterizedTest
    @MethodSource("cleanUps")
    void whatCleansUpIsSentWithoutTheFlag(String method, Use use) throws Exception {
        assertSent(method, use);
        assertThat(driver.interrupted).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("withoutTheDatabase")
    void whatDoesNotAskTheDatabaseSeesTheFlag(String method, Use use) throws Exception {
        assertSent(method, use);
        assertThat(driver.interrupted).containsExactly(method);
    }

    private void assertSent(String method, Use use) throws Exception {
        assertThat(stopped(use)).isNull();
        assertThat(driver.calls).containsExactly(method);
        assertThat(test.outcomes).isEmpty();
    }

    @Test
    void aCommitBecomesARollback() throws Exception {
        Throwable failure = stopped((connection, statement, rows) -> {
            connection.setAutoCommit(false);
            connection.commit();
        });

        assertRefused(failure);
        assertThat(driver.calls).containsExactly("setAutoCommit", "rollback");
    }

    @Test
    void theEndOfATransactionByAutoCommitIsARollback() throws Exception {
        assertThat(stopped((connection, statement, rows) -> {
                    connection.setAutoCommit(false);
                    connection.setAutoCommit(true);
                }))
                .isNull();
        assertThat(driver.calls).containsExactly("setAutoCommit", "rollback", "setAutoCommit");
        assertThat(test.outcomes).isEmpty();
    }

    @Test
    void aRollbackThatFailsKeepsTheConnectionFromAutoCommit() throws Exception {
        SQLException broken = new SQLException("I/O error", "08006");
        driver.on("rollback", () -> {
            throw broken;
        });

        assertThat(stopped((connection, statement, rows) -> {
                    connection.setAutoCommit(false);
                    connection.setAutoCommit(true);
                }))
                .isSameAs(broken);
        assertThat(driver.calls).containsExactly("setAutoCommit", "rollback");
    }

    @Test
    void aFlagThatTheBodyRaisedItselfIsBackAfterTheCall() throws Exception {
        Connection connection = connection();
        CompletableFuture<@Nullable Object> flag = test.submit(() -> {
            Thread.currentThread().interrupt();
            connection.createStatement().execute("select 1");
            return Thread.interrupted();
        });

        assertThat(flag.get(5, TimeUnit.MINUTES)).isEqualTo(true);
        assertThat(driver.interrupted).containsExactly("createStatement"); // which sends nothing
    }

    @Test
    void aStopBetweenCallsInterrupts() throws Exception {
        Connection connection = connection();
        CompletableFuture<Boolean> woken = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            connection.createStatement().execute("select 1");
            running.countDown();
            woken.complete(
                    catchThrowable(() -> FakeDriver.await(new CountDownLatch(1))) instanceof InterruptedException);
            return null;
        });
        FakeDriver.await(running);

        call.cancel(true);

        assertThat(woken.get(5, TimeUnit.MINUTES)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void otherThreadsAreInterruptedAsEver(boolean virtual) throws Exception {
        Statement statement = connection().createStatement();
        Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
        assertInterruptedAsEver(builder, () -> statement.execute("select 1"));
    }

    @Test
    void callsOfTheCallersThreadAreInterruptedAsEver() throws Exception {
        Statement statement = connection().createStatement();
        assertInterruptedAsEver(
                Thread.ofVirtual(),
                () -> test.engine.call(test.engine.spec("Shop.price", null), () -> statement.execute("select 1")));
    }

    private void assertInterruptedAsEver(Thread.Builder builder, ThrowingCallable body) throws Exception {
        Held execute = driver.hold("execute");
        CompletableFuture<@Nullable Throwable> failure = new CompletableFuture<>();
        Thread thread = builder.start(() -> failure.complete(catchThrowable(body)));
        execute.awaitBegin();

        thread.interrupt();

        assertThat(failure.get(5, TimeUnit.MINUTES)).hasMessage("I/O error");
        assertThat(driver.calls).doesNotContain("cancel");
    }
}
