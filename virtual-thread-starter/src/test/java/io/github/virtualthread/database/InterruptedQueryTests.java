package io.github.virtualthread.database;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What limits.md says of interrupts and queries. */
@Timeout(300)
@Tag("slow")
class InterruptedQueryTests {

    private static final String URL = TestPostgres.newDatabase();
    private static final JdbcTemplate monitor = TestPostgres.monitor(URL);

    private static ApplicationContextRunner runner() {
        return TestPostgres.application(URL, 1).withBean(Queries.class);
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
            monitor.queryForList("select pg_terminate_backend(%d)".formatted(connection));
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

    private static boolean running(int connection) {
        return TestPostgres.sessions(monitor, "state = 'active' and pid = " + connection) == 1;
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
