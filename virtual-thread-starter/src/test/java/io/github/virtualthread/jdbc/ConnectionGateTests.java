package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Bodies that are stopped while they are in a call of the driver. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ConnectionGateTests extends DriverCalls {

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
