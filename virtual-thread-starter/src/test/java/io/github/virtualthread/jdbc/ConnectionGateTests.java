package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.LiveCall;
import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Bodies that are stopped while they are in a call of the driver. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ConnectionGateTests {

    private static final Duration ENOUGH = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(50);

    /** Those who wait for the next step get it soon, those who do not never do. */
    private static final Times PATIENT = new Times(Duration.ofMillis(1), ENOUGH, ENOUGH, ENOUGH);

    /** A cancel has to return soon. */
    private static final Times SHORT_CANCEL = new Times(Duration.ofMillis(1), ENOUGH, SHORT, ENOUGH);

    @RegisterExtension
    private final JdbcEngine test = new JdbcEngine();

    private final FakeDriver driver = new FakeDriver();

    /** What the body caught. */
    private final CompletableFuture<@Nullable Throwable> caught = new CompletableFuture<>();

    /** Whether it then had the flag. */
    private final CompletableFuture<Boolean> flag = new CompletableFuture<>();

    private Connection connection(Times times) throws SQLException {
        return new CancellableDataSource(driver::dataSource, times).getConnection();
    }

    private interface Action {

        void run() throws Throwable;
    }

    private CompletableFuture<@Nullable Object> body(Action action) {
        return test.submit(() -> {
            Throwable failure = null;
            try {
                action.run();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            flag.complete(Thread.currentThread().isInterrupted());
            caught.complete(failure);
            return null;
        });
    }

    /** Cancels the call of a body when the driver has what it asks for. */
    private CompletableFuture<@Nullable Object> stop(Held held, Action action) throws Exception {
        CompletableFuture<@Nullable Object> call = body(action);
        held.awaitBegin();
        assertThat(call.cancel(true)).isTrue();
        return call;
    }

    private CompletableFuture<@Nullable Object> stopStatement(Held execute, Times times) throws Exception {
        Connection connection = connection(times);
        return stop(execute, () -> connection.createStatement().execute("select 1"));
    }

    private @Nullable Throwable caught() throws Exception {
        return caught.get(5, TimeUnit.MINUTES);
    }

    private void assertCaughtAfter(StatementOutcome outcome, String message) throws Exception {
        assertThat(caught()).hasMessageStartingWith(message);
        assertThat(test.outcomes).containsExactly(outcome);
    }

    /** With the driver's own failure, so that the pool drops the connection. */
    private void assertInterrupted() throws Exception {
        assertCaughtAfter(StatementOutcome.INTERRUPTED, "I/O error");
        assertThat(caught()).isExactlyInstanceOf(SQLException.class);
    }

    /** Of several warnings, the last one is awaited. */
    private static void assertWarned(CapturedOutput output, int warnings, String last) {
        await().atMost(ENOUGH).until(() -> warnings(output).size() >= warnings);
        assertThat(warnings(output)).last().asString().contains(last);
    }

    private static List<String> warnings(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.contains(" WARN ") && line.contains("CancellableDataSource"))
                .toList();
    }

    private static AbstractThrowableAssert<?, ?> assertState(@Nullable Throwable failure, String state) {
        assertThat(failure).isInstanceOfSatisfying(SQLException.class, of -> assertThat(of.getSQLState())
                .isEqualTo(state));
        return assertThat(failure);
    }

    @Test
    void theWaitsAreThoseOfTheDocumentation() {
        assertThat(Times.USUAL)
                .isEqualTo(new Times(
                        Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(30)));
    }

    @Test
    void aStopCancelsTheStatementInPlaceOfAnInterrupt() throws Exception {
        Held execute = driver.hold("execute");
        driver.cancelEnds(execute);

        stopStatement(execute, PATIENT);

        assertState(caught(), "57014")
                .isExactlyInstanceOf(SQLNonTransientException.class)
                .hasMessage("The statement was cancelled: Shop.price was cancelled under limit 'none'")
                .hasCause(execute.end.exceptionNow());
        assertThat(flag.join()).isTrue();
        assertThat(driver.interrupted).isEmpty();
        assertThat(test.outcomes).containsExactly(StatementOutcome.CANCELLED);
    }

    /** MariaDB needs two seconds for the cancel of one of several queries that sleep, and may miss the first one. */
    @Test
    @Tag("slow")
    void aSlowCancelHasTimeForItsEffect() throws Exception {
        Duration grace = Duration.ofSeconds(2);
        AtomicLong first = new AtomicLong();
        Held execute = driver.hold("execute");
        driver.on("cancel", () -> {
            if (!first.compareAndSet(0, System.nanoTime())) {
                await().atMost(ENOUGH).until(() -> System.nanoTime() - first.get() > grace.toNanos());
                execute.end.completeExceptionally(new SQLException("canceled", "57014"));
            }
            return null;
        });

        stopStatement(execute, new Times(grace.dividedBy(2), grace, ENOUGH, ENOUGH));

        assertCaughtAfter(StatementOutcome.CANCELLED, "The statement was cancelled");
    }

    @Test
    void aCallDoesNotEndBeforeItsCancelHasReturned() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        AtomicReference<@Nullable Thread> body = new AtomicReference<>();
        Held execute = driver.hold("execute");
        driver.on("cancel", () -> {
            order.add(Thread.currentThread().getName());
            execute.end.complete(true);
            await().atMost(ENOUGH).until(() -> order.contains("body goes on") || isIn(body.get(), "awaitCancel"));
            order.add("cancel returns");
            return null;
        });
        Connection connection = connection(PATIENT);

        stop(execute, () -> {
            body.set(Thread.currentThread());
            connection.createStatement().execute("select 1");
            order.add("body goes on");
        });

        assertThat(caught()).isNull();
        assertThat(order).containsExactly("cancel-statement", "cancel returns", "body goes on");
        assertThat(flag.join()).isTrue();
        assertThat(test.outcomes).containsExactly(StatementOutcome.COMPLETED);
    }

    private static boolean isIn(@Nullable Thread thread, String method) {
        return thread != null
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @Test
    void aCancelThatComesTooEarlyIsSentAgain() throws Exception {
        Held execute = driver.hold("execute");
        AtomicInteger cancels = new AtomicInteger();
        driver.on("cancel", () -> cancels.incrementAndGet() == 3 && execute.end.complete(true));

        stopStatement(execute, PATIENT);

        assertThat(caught()).isNull();
        assertThat(cancels).hasValueGreaterThanOrEqualTo(3); // more where the body is slow to hear of its end
    }

    @Test
    void aCancelThatFailsIsSentAgain() throws Exception {
        Held execute = driver.hold("execute");
        AtomicInteger cancels = new AtomicInteger();
        driver.on("cancel", () -> {
            if (cancels.incrementAndGet() == 1) {
                throw new SQLException("too many connections");
            }
            return execute.end.completeExceptionally(new SQLException("canceled", "57014"));
        });

        stopStatement(execute, PATIENT);

        assertCaughtAfter(StatementOutcome.CANCELLED, "The statement was cancelled");
    }

    @Tag("slow")
    @Test
    void aStatementThatDoesNotEndIsInterruptedAfterAGraceFromTheFirstCancel() throws Exception {
        Duration grace = Duration.ofMillis(300);
        AtomicLong firstReturned = new AtomicLong();
        Held execute = driver.hold("execute");
        driver.on("cancel", () -> {
            letPass(grace); // a slow cancel does not count
            return firstReturned.compareAndSet(0, System.nanoTime());
        });

        stopStatement(execute, new Times(grace.dividedBy(3), grace, ENOUGH, ENOUGH));

        assertInterrupted();
        assertThat(System.nanoTime() - firstReturned.get()).isGreaterThanOrEqualTo(grace.toNanos());
        assertThat(driver.calls).doesNotContain("abort");
    }

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

    @Test
    void whatCannotBeCancelledIsInterruptedIfItDoesNotEnd(CapturedOutput output) throws Exception {
        Connection connection = connection(new Times(ENOUGH, ENOUGH, SHORT, ENOUGH));

        stop(driver.hold("prepareStatement"), () -> connection.prepareStatement("select 1"));

        assertInterrupted();
        assertWarned(
                output,
                1,
                "Shop.price was cancelled under limit 'none'. A call of its database driver that cannot be cancelled did not end"
                        + " within 0.05s. Its connection is lost, and the database may go on with the statement:");
    }

    @Test
    void aFailureThatBrokeTheConnectionReachesThePool() throws Exception {
        Held execute = driver.hold("execute");
        SQLException broken = new SQLException("terminated by administrator", "57P01");
        driver.on("cancel", () -> execute.end.completeExceptionally(broken));

        stopStatement(execute, PATIENT);

        assertThat(caught()).isSameAs(broken);
    }

    /** How a body commits. */
    private static void commit(Connection connection, String how) throws SQLException {
        if (how.equals("commit")) {
            connection.commit();
        } else {
            connection.setAutoCommit(true);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "setAutoCommit"})
    void aCommitEndsByItself(String how) throws Exception {
        Duration longest = Duration.ofMillis(5);
        Held commit = driver.hold(how);
        Connection connection = connection(new Times(longest, longest, longest, ENOUGH));

        stop(commit, () -> commit(connection, how));

        letPass(longest.multipliedBy(20));
        commit.end.complete(null);
        assertThat(caught()).isNull();
        assertThat(flag.join()).isTrue();
        assertThat(test.outcomes).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "setAutoCommit"})
    void aCommitThatHangsIsInterrupted(String how, CapturedOutput output) throws Exception {
        Connection connection = connection(new Times(ENOUGH, ENOUGH, ENOUGH, SHORT));

        stop(driver.hold(how), () -> commit(connection, how));

        assertInterrupted();
        assertThat(flag.join()).isTrue();
        assertWarned(
                output,
                1,
                "Shop.price was cancelled under limit 'none'. Its commit did not end within 0.05s. Its connection is lost, and"
                        + " whether it is committed is unknown: look for its rows in the database");
    }

    private enum Again {
        CANCEL {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                call.cancel(true);
            }
        },
        OPERATOR {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                LiveCall live = test.engine.liveCalls().running().get(0);
                assertThat(test.engine.liveCalls().insist(live.call())).isTrue();
            }
        },
        END_OF_THE_APPLICATION {
            @Override
            void stop(JdbcEngine test, CompletableFuture<?> call) {
                test.engine.close();
            }
        };

        abstract void stop(JdbcEngine test, CompletableFuture<?> call);
    }

    @ParameterizedTest
    @EnumSource
    void aSecondStopInterruptsACommitAtOnce(Again again, CapturedOutput output) throws Exception {
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call = stop(driver.hold("commit"), connection::commit);

        again.stop(test, call);

        assertInterrupted();
        assertWarned(output, 1, "Its commit was interrupted, because the call was stopped once more. Its connection");
    }

    /** Nobody has stopped its call before. */
    @Test
    @Tag("slow")
    void theEndOfTheApplicationLeavesACommitAMoment() throws Exception {
        Held commit = driver.hold("commit");
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call = body(connection::commit);
        commit.awaitBegin();

        test.engine.stop(Duration.ofMillis(1));

        assertInterrupted();
        assertThat(call).isDone();
    }

    /** By its timeout: its future has failed before the operator comes. */
    @Test
    void anOperatorEndsTheCommitOfACallThatHasTimedOut() throws Exception {
        Held commit = driver.hold("commit");
        Connection connection = connection(PATIENT);
        CompletableFuture<@Nullable Object> call =
                test.engine.submit(test.engine.spec("Shop.price", null, SHORT), () -> {
                    caught.complete(catchThrowable(connection::commit));
                    return null;
                });
        commit.awaitBegin();
        assertThat(call).failsWithin(ENOUGH);

        Again.OPERATOR.stop(test, call);

        assertThat(caught()).hasMessage("I/O error");
    }

    @Test
    void aSecondStopLeavesAStatementToItsCancel() throws Exception {
        Held execute = driver.hold("execute");
        CountDownLatch cancelled = new CountDownLatch(1);
        driver.on("cancel", () -> {
            cancelled.countDown();
            return null;
        });
        CompletableFuture<@Nullable Object> call = stopStatement(execute, PATIENT);
        FakeDriver.await(cancelled);

        call.cancel(true);
        LiveCall live = test.engine.liveCalls().running().get(0);
        assertThat(test.engine.liveCalls().insist(live.call())).isFalse();
        execute.end.complete(true);

        assertThat(caught()).isNull();
        assertThat(test.outcomes).containsExactly(StatementOutcome.COMPLETED);
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

    private void letPass(Duration time) throws InterruptedException {
        CountDownLatch later = new CountDownLatch(1);
        Future<?> unused = test.timer.schedule(later::countDown, time.toNanos());
        FakeDriver.await(later);
    }

    @Test
    void aCallWithinACallAndOneOfASecondThreadPass() throws Exception {
        Connection connection = connection(PATIENT);
        Held execute = driver.hold("execute");
        driver.on("executeUpdate", () -> {
            connection.setReadOnly(true);
            return connection.createStatement().execute("select within");
        });
        driver.cancelEnds(execute);
        Statement statement = connection.createStatement();
        CompletableFuture<@Nullable Object> call = body(() -> statement.executeUpdate("update"));
        execute.awaitBegin();

        connection.setSchema("beside");
        call.cancel(true);

        assertThat(caught()).isExactlyInstanceOf(SQLNonTransientException.class);
        assertThat(driver.calls).containsSubsequence("executeUpdate", "setReadOnly", "execute", "setSchema", "cancel");
        assertThat(test.outcomes).containsExactly(StatementOutcome.CANCELLED);
    }

    @Test
    void theTimeoutOfTheNetworkIsSetWhileACallRuns() throws Exception {
        Connection connection = connection(PATIENT);
        Held execute = driver.hold("execute");
        body(() -> connection.createStatement().execute("select 1"));
        execute.awaitBegin();

        connection.setNetworkTimeout(Runnable::run, 5);
        assertThat(connection.isClosed()).isFalse();
        connection.abort(Runnable::run);

        assertThat(driver.calls)
                .containsExactly("getConnection", "createStatement", "execute", "setNetworkTimeout", "abort");
        execute.end.complete(true);
    }

    @Test
    void theStatementIsKnownWhileItRuns() throws Exception {
        Held first = driver.hold("execute");
        Held second = driver.hold("executeQuery");
        CountDownLatch between = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Connection connection = connection(PATIENT);
        body(() -> {
            try (PreparedStatement statement = connection.prepareStatement("select ?")) {
                statement.execute();
                between.countDown();
                FakeDriver.await(go);
                statement.executeQuery("select 2");
            }
        });

        first.awaitBegin();
        assertThat(statement()).contains("select ?");
        first.end.complete(true);
        FakeDriver.await(between);
        assertThat(statement()).isEmpty();
        go.countDown();
        second.awaitBegin();
        assertThat(statement()).contains("select 2");
        second.end.complete(null);
        assertThat(caught()).isNull();
    }

    private Optional<String> statement() {
        LiveCall only = test.engine.liveCalls().running().get(0);
        return test.engine.liveCalls().statement(only.call());
    }

    /** A call whose body is replaced by another one, which is stopped then. */
    private CompletableFuture<@Nullable Object> stopWithin(
            Times times, Held execute, BiFunction<StoppableBody, Held, StoppableBody> other) {
        ConnectionGate gate = new ConnectionGate(driver.connection(), times);
        return body(() -> {
            StoppableBody replaced = other.apply(Objects.requireNonNull(Calls.currentBody()), execute);
            Statement statement = driver.connection().createStatement();
            gate.call(Kind.STATEMENT, statement, "select 1", () -> {
                gate.current.stopped(replaced);
                return execute.give();
            });
        });
    }

    @Test
    void aCancelWithoutRoomForAWatchBecomesAnInterrupt() throws Exception {
        Held execute = new Held();

        CompletableFuture<@Nullable Object> call = stopWithin(PATIENT, execute, ConnectionGateTests::withoutRoom);

        assertThat(caught()).isNull();
        assertThat(call).succeedsWithin(ENOUGH);
        assertThat(execute.end).isCompletedWithValue("forced");
        assertThat(driver.calls).doesNotContain("cancel");
        assertThat(test.outcomes).containsExactly(StatementOutcome.INTERRUPTED);
    }

    @Test
    void aShieldThatFindsNoRoomSaysSo() throws Exception {
        ConnectionGate gate = new ConnectionGate(driver.connection(), PATIENT);
        body(() -> {
            StoppableBody noRoom = withoutRoom(Objects.requireNonNull(Calls.currentBody()), new Held());
            gate.call(Kind.OTHER, null, null, () -> {
                assertThatThrownBy(() -> gate.current.stopped(noRoom)).isInstanceOf(OutOfMemoryError.class);
                return null;
            });
        });

        assertThat(caught()).isNull();
        assertThat(test.outcomes).containsExactly(StatementOutcome.INTERRUPTED); // by the engine, then
    }

    /** A call that has ended has forgotten its deadline. */
    @Test
    void aWarningSaysWhyTheBodyWasStoppedThoughItEndsBefore(CapturedOutput output) throws Exception {
        Times hasty = new Times(Duration.ofMillis(1), Duration.ofMillis(1), ENOUGH, ENOUGH);

        stopWithin(hasty, new Held(), ConnectionGateTests::ended);

        assertThat(caught()).isNull();
        assertWarned(output, 1, "Shop.price was stopped. Its statement did not end within");
    }

    /** A body that ends as soon as it is forced. */
    private static StoppableBody ended(StoppableBody body, Held execute) {
        return proxy((proxy, method, arguments) -> switch (method.getName()) {
            case "force" -> execute.end.complete(true);
            case "whyStopped" -> execute.end.isDone() ? "forgotten" : method.invoke(body, arguments);
            default -> method.invoke(body, arguments);
        });
    }

    /** A body for which nothing can be scheduled. */
    private static StoppableBody withoutRoom(StoppableBody body, Held execute) {
        return proxy((proxy, method, arguments) -> switch (method.getName()) {
            case "schedule" -> throw new OutOfMemoryError("no room");
            case "force" -> execute.end.complete("forced");
            default -> method.invoke(body, arguments);
        });
    }

    private static StoppableBody proxy(InvocationHandler handler) {
        return (StoppableBody) Proxy.newProxyInstance(
                ConnectionGateTests.class.getClassLoader(), new Class<?>[] {StoppableBody.class}, handler);
    }
}
