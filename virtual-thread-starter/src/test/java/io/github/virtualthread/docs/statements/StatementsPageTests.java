package io.github.virtualthread.docs.statements;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.CancellableDataSource;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.LimitSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What statements.md shows and says is so. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StatementsPageTests {

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("shop.url=" + url, "virtual-thread.limits.db.permits=1")
            .withBean(Shop.class)
            .withBean(Reports.class)
            .withBean(Outcomes.class);

    /** Of the query that the only test at this moment has sent. */
    private static volatile CountDownLatch query = new CountDownLatch(1);

    /** Called by H2. */
    public static final class Probe {

        public static int row() {
            query.countDown();
            return 1;
        }
    }

    @BeforeEach
    void forgetTheQueryOfAnotherTest() {
        query = new CountDownLatch(1);
    }

    private static void cancelWhileTheQueryRuns(CompletableFuture<Void> call) throws InterruptedException {
        assertThat(query.await(2, TimeUnit.MINUTES)).isTrue();
        call.cancel(true);
    }

    @Test
    void aPoolByHandCancels(CapturedOutput output) {
        runner.withUserConfiguration(PoolByHand.class)
                .withPropertyValues("virtual-thread.jdbc.cancel-statements=true")
                .run(context -> {
                    cancelWhileTheQueryRuns(context.getBean(Shop.class).price());
                    assertThat(context.getBean(Outcomes.class).next()).isEqualTo(StatementOutcome.CANCELLED);
                });

        assertThat(output).doesNotContain("are not cancelled");
    }

    @Test
    void aPoolWithoutSpringBootCancels() throws Exception {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("page", Map.of("shop.url", url)));
            context.register(PlainStatements.class, Outcomes.class, Shop.class);
            context.registerBean("limit", LimitSettings.class, () -> LimitSettings.of("db", 1));
            context.refresh();

            assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                    .isTrue();
            cancelWhileTheQueryRuns(context.getBean(Shop.class).price());
            assertThat(context.getBean(Outcomes.class).next()).isEqualTo(StatementOutcome.CANCELLED);
        }
    }

    @Test
    void aLimitedMethodIsStoppedWithTheBodyThatCallsIt() {
        runner.withUserConfiguration(PoolByHand.class).run(context -> {
            cancelWhileTheQueryRuns(context.getBean(Reports.class).report());
            assertThat(context.getBean(Outcomes.class).next()).isEqualTo(StatementOutcome.CANCELLED);
        });
    }

    /** In the body itself, the statement is refused. */
    @Test
    void aFailureIsNotedOutsideOfTheStoppedCall() {
        DataSource source = new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1");
        runner.withBean(DataSource.class, () -> source)
                .withBean(JdbcTemplate.class, () -> new JdbcTemplate(source))
                .withBean(Courier.class)
                .withBean(NoteTheFailure.Shop.class)
                .run(context -> {
                    JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
                    jdbc.execute("create table orders (id int, state varchar)");
                    jdbc.execute("insert into orders values (1, 'new')");
                    Courier courier = context.getBean(Courier.class);

                    new NoteTheFailure.Orders(courier, context.getBean(NoteTheFailure.Shop.class))
                            .deliver(1)
                            .join();

                    assertThat(courier.refusal())
                            .isInstanceOf(SQLException.class)
                            .hasMessageStartingWith("The statement was not sent");
                    assertThat(jdbc.queryForObject("select state from orders", String.class))
                            .isEqualTo("failed");
                });
    }

    static class Courier implements NoteTheFailure.Courier {

        private final DataSource guarded;
        private final CompletableFuture<Exception> inTheBody = new CompletableFuture<>();

        Courier(DataSource source) {
            guarded = new CancellableDataSource(() -> source);
        }

        Exception refusal() throws Exception {
            return inTheBody.get(2, TimeUnit.MINUTES);
        }

        @Override
        @VirtualThread(timeout = "50ms")
        public CompletableFuture<Void> deliver(long order) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stopped) {
                try (Connection connection = guarded.getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("update orders set state = 'stopped'");
                } catch (SQLException refused) {
                    inTheBody.complete(refused);
                }
            }
            return completedFuture(null);
        }
    }

    @Test
    @Tag("slow")
    void theWarningOfAStatementThatGoesOnIsOnThePage(CapturedOutput output) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        DataSource pool = new CancellableDataSource(() -> hanging(begun));

        runner.withBean(DataSource.class, () -> pool).run(context -> {
            CompletableFuture<Void> price = context.getBean(Shop.class).price(pool);
            assertThat(begun.await(2, TimeUnit.MINUTES)).isTrue();
            price.cancel(true);

            assertThat(context.getBean(Outcomes.class).next()).isEqualTo(StatementOutcome.INTERRUPTED);
            await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(output)
                    .contains(Pages.block("docs/statements.md", "log", "goes-on")));
        });
    }

    /** An interrupt breaks the connection, and a cancel does nothing. */
    private static DataSource hanging(CountDownLatch begun) {
        try {
            Statement statement = mock(Statement.class);
            when(statement.execute(anyString())).thenAnswer(call -> {
                begun.countDown();
                try {
                    return new CountDownLatch(1).await(2, TimeUnit.MINUTES);
                } catch (InterruptedException broken) {
                    throw new SQLException("I/O error", "08006", broken);
                }
            });
            Connection connection = mock(Connection.class);
            when(connection.createStatement()).thenReturn(statement);
            DataSource driver = mock(DataSource.class);
            when(driver.getConnection()).thenReturn(connection);
            return driver;
        } catch (SQLException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static class Shop {

        private final DataSource pool;

        Shop(DataSource pool) {
            this.pool = pool;
        }

        @VirtualThread("db")
        CompletableFuture<Void> price() throws SQLException {
            return runSlowQuery(pool);
        }

        @VirtualThread("db")
        CompletableFuture<Void> price(DataSource other) throws SQLException {
            return runSlowQuery(other);
        }

        @Limited("db")
        void stock() throws SQLException {
            runSlowQuery(pool);
        }

        private static CompletableFuture<Void> runSlowQuery(DataSource pool) throws SQLException {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(
                        "create alias if not exists test_row for \"%s.row\"".formatted(Probe.class.getName()));
                statement.execute("select sum(a.x * b.x) from system_range(1, 10000000) a,"
                        + " system_range(1, 10000000) b where test_row() = 1");
            }
            return completedFuture(null);
        }
    }

    static class Reports {

        private final Shop shop;

        Reports(Shop shop) {
            this.shop = shop;
        }

        @VirtualThread
        CompletableFuture<Void> report() throws SQLException {
            shop.stock();
            return completedFuture(null);
        }
    }

    static class Outcomes implements TaskListener {

        private final BlockingQueue<StatementOutcome> outcomes = new LinkedBlockingQueue<>();

        @Override
        public void statementEnded(TaskCall call, StatementOutcome outcome) {
            outcomes.add(outcome);
        }

        StatementOutcome next() throws InterruptedException {
            return outcomes.poll(2, TimeUnit.MINUTES);
        }
    }
}
