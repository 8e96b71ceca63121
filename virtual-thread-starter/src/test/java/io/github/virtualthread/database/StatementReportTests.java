package io.github.virtualthread.database;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.jdbc.CancellableDataSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.stubbing.Answer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What operators read of statements that did not end when they were cancelled. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StatementReportTests {

    private static final String STOPPED = "Shop.price was cancelled under limit 'db'. ";
    private static final String GOES_ON =
            ". Its connection is lost, and the database may go on with the statement although the permit of limit 'db' is"
                    + " free for other calls: look for the statement in the database, and end it there";

    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final DataSource database = mock();
    private final Connection connection = mock();
    private final Statement statement = mock();

    @BeforeEach
    void connect() throws SQLException {
        when(database.getConnection()).thenReturn(connection);
        when(connection.createStatement()).thenReturn(statement);
    }

    @AfterEach
    void release() {
        release.countDown();
    }

    /** Until the test ends, or an interrupt comes, as it breaks a socket. */
    private Answer<?> hang() {
        return call -> {
            running.countDown();
            try {
                release.await();
            } catch (InterruptedException broken) {
                throw new SQLException("connection lost", "08006", broken);
            }
            return null;
        };
    }

    @Test
    @Tag("slow")
    void aStatementThatDoesNotEndWhenItIsCancelled(CapturedOutput output) throws Exception {
        doAnswer(hang()).when(statement).execute(anyString());

        run(output, 1, used -> used.createStatement().execute("select secret"));

        assertThat(warnings(output))
                .containsExactly(STOPPED + "Its statement did not end within 5s of being cancelled" + GOES_ON);
        assertThat(Files.readString(Path.of("../docs/statements.md"))).contains(warnings(output));
        assertThat(output.getAll()).doesNotContain("secret");
    }

    @Test
    @Tag("slow")
    void aCallThatCannotBeCancelled(CapturedOutput output) throws SQLException {
        doAnswer(hang()).when(connection).rollback();

        run(output, 1, Connection::rollback);

        assertThat(warnings(output))
                .containsExactly(STOPPED
                        + "A call of its database driver that cannot be cancelled did not end within 5s"
                        + GOES_ON);
    }

    @Test
    @Tag("slow")
    void aCancelThatDoesNotReturn(CapturedOutput output) throws SQLException {
        doAnswer(hang()).when(statement).execute(anyString());
        doAnswer(hang()).when(statement).cancel();
        doThrow(new SQLException("no abort")).when(connection).abort(any());

        run(output, 2, used -> used.createStatement().execute("select secret"));

        assertThat(warnings(output))
                .containsExactlyInAnyOrder(
                        STOPPED + "A cancel of its statement did not return within 5s" + GOES_ON,
                        "The connection of Shop.price could not be closed after a cancel of its statement did not return."
                                + " Nobody uses it any more: look for its session in the database, and end it there");
        assertThat(output.getAll()).doesNotContain("secret").contains("no abort");
    }

    private static List<String> warnings(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains(" WARN ") && line.contains("CancellableDataSource"))
                .map(line -> line.replaceFirst("^.*CancellableDataSource -- ", ""))
                .toList();
    }

    private void run(CapturedOutput output, int warnings, Work work) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withPropertyValues("virtual-thread.limits.db.permits=1")
                .withBean(Shop.class)
                .run(context -> {
                    CompletableFuture<Void> call =
                            context.getBean(Shop.class).price(new CancellableDataSource(() -> database), work);
                    assertThat(running.await(2, TimeUnit.MINUTES)).isTrue();
                    call.cancel(true);
                    await().atMost(Duration.ofMinutes(2))
                            .until(() -> warnings(output).size() >= warnings);
                });
    }

    @FunctionalInterface
    interface Work {

        void run(Connection connection) throws SQLException;
    }

    static class Shop {

        @VirtualThread("db")
        public CompletableFuture<Void> price(DataSource dataSource, Work work) throws SQLException {
            work.run(dataSource.getConnection());
            return completedFuture(null);
        }
    }
}
