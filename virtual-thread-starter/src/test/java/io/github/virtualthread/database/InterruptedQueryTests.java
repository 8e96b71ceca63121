package io.github.virtualthread.database;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimits;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What limits.md says of interrupts and queries. */
@Timeout(300)
@Tag("slow")
class InterruptedQueryTests {

    private static EmbeddedPostgres postgres;

    @BeforeAll
    static void startDatabase() throws IOException {
        postgres = TestPostgres.start();
    }

    @AfterAll
    static void stopDatabase() throws IOException {
        postgres.close();
    }

    private static ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits-from=dataSource",
                        "spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
                        "spring.datasource.hikari.maximum-pool-size=1")
                .withBean(Queries.class);
    }

    @Test
    void anInterruptGivesThePermitBackWhileTheServerStillRunsTheQuery() {
        runner().run(context -> {
            Queries queries = context.getBean(Queries.class);
            int connection = queries.connection().join();

            CompletableFuture<Void> slow = queries.slow();
            await().atMost(Duration.ofMinutes(2)).until(() -> running(connection));

            slow.cancel(true);

            await().atMost(Duration.ofMinutes(2))
                    .until(() -> context.getBean(TaskLimits.class).get("db").available() == 1);
            assertThat(running(connection)).isTrue();
            assertThat(queries.connection().join()).isNotEqualTo(connection);
            end(connection);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.jdbc.template.query-timeout=1s",
                "spring.datasource.hikari.connection-init-sql=set statement_timeout = '200ms'"
            })
    void aTimeoutOfTheQueryEndsItAndKeepsTheConnection(String property) {
        runner().withPropertyValues("virtual-thread.timeout=1m", property).run(context -> {
            Queries queries = context.getBean(Queries.class);
            int connection = queries.connection().join();

            assertThat(queries.slow())
                    .failsWithin(Duration.ofMinutes(2))
                    .withThrowableThat()
                    .withCauseInstanceOf(DataAccessException.class);

            assertThat(running(connection)).isFalse();
            assertThat(queries.connection().join()).isEqualTo(connection);
        });
    }

    private static boolean running(int connection) throws SQLException {
        return ask("select state = 'active' from pg_stat_activity where pid = " + connection);
    }

    private static void end(int connection) throws SQLException {
        assertThat(ask("select pg_terminate_backend(%d)".formatted(connection))).isTrue();
    }

    private static boolean ask(String query) throws SQLException {
        try (Connection server = postgres.getPostgresDatabase().getConnection();
                Statement statement = server.createStatement();
                ResultSet answer = statement.executeQuery(query)) {
            return answer.next() && answer.getBoolean(1);
        }
    }

    static class Queries {

        private final JdbcTemplate jdbc;

        Queries(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @VirtualThread("db")
        public CompletableFuture<Void> slow() {
            jdbc.execute("select pg_sleep(120)");
            return completedFuture(null);
        }

        /** The number of the process that serves the connection. */
        @VirtualThread("db")
        public CompletableFuture<Integer> connection() {
            return completedFuture(jdbc.queryForObject("select pg_backend_pid()", Integer.class));
        }
    }
}
