package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.FakeDriver.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;

/** A body in a call of the driver, and what stops it. */
abstract class DriverCalls {

    static final Duration ENOUGH = Duration.ofMinutes(5);
    static final Duration SHORT = Duration.ofMillis(50);

    /** Those who wait for the next step get it soon, those who do not never do. */
    static final Times PATIENT = new Times(Duration.ofMillis(1), ENOUGH, ENOUGH, ENOUGH);

    @RegisterExtension
    final JdbcEngine test = new JdbcEngine();

    final FakeDriver driver = new FakeDriver();

    /** What the body caught. */
    final CompletableFuture<@Nullable Throwable> caught = new CompletableFuture<>();

    /** Whether it then had the flag. */
    final CompletableFuture<Boolean> flag = new CompletableFuture<>();

    Connection connection(Times times) throws SQLException {
        return new CancellableDataSource(driver::dataSource, times).getConnection();
    }

    interface Action {

        void run() throws Throwable;
    }

    CompletableFuture<@Nullable Object> body(Action action) {
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
    CompletableFuture<@Nullable Object> stop(Held held, Action action) throws Exception {
        CompletableFuture<@Nullable Object> call = body(action);
        held.awaitBegin();
        assertThat(call.cancel(true)).isTrue();
        return call;
    }

    CompletableFuture<@Nullable Object> stopStatement(Held execute, Times times) throws Exception {
        Connection connection = connection(times);
        return stop(execute, () -> connection.createStatement().execute("select 1"));
    }

    @Nullable
    Throwable caught() throws Exception {
        return caught.get(5, TimeUnit.MINUTES);
    }

    void assertCaughtAfter(StatementOutcome outcome, String message) throws Exception {
        assertThat(caught()).hasMessageStartingWith(message);
        assertThat(test.outcomes).containsExactly(outcome);
    }

    /** With the driver's own failure, so that the pool drops the connection. */
    void assertInterrupted() throws Exception {
        assertCaughtAfter(StatementOutcome.INTERRUPTED, "I/O error");
        assertThat(caught()).isExactlyInstanceOf(SQLException.class);
    }

    /** Of several warnings, the last one is awaited. */
    static void assertWarned(CapturedOutput output, int warnings, String last) {
        await().atMost(ENOUGH).until(() -> warnings(output).size() >= warnings);
        assertThat(warnings(output)).last().asString().contains(last);
    }

    static List<String> warnings(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.contains(" WARN ") && line.contains("CancellableDataSource"))
                .toList();
    }

    static AbstractThrowableAssert<?, ?> assertState(@Nullable Throwable failure, String state) {
        assertThat(failure).isInstanceOfSatisfying(SQLException.class, of -> assertThat(of.getSQLState())
                .isEqualTo(state));
        return assertThat(failure);
    }

    void letPass(Duration time) throws InterruptedException {
        CountDownLatch later = new CountDownLatch(1);
        Future<?> unused = test.timer.schedule(later::countDown, time.toNanos());
        FakeDriver.await(later);
    }
}
