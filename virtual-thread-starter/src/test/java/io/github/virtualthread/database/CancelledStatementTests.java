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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** Calls that are stopped while the database runs their statements. */
@Timeout(300)
@Tag("slow")
class CancelledStatementTests {

    private static final int POOL = 4;

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
                        "virtual-thread.jdbc.cancel-statements=true",
                        "spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
                        "spring.datasource.hikari.maximum-pool-size=" + POOL)
                .withBean(Queries.class);
    }

    @Test
    void aTimeoutEndsTheQueryAndKeepsTheConnection() {
        runner().run(context -> {
            Queries queries = context.getBean(Queries.class);
            List<Integer> before = queries.connections();

            for (int wave = 0; wave < 3; wave++) {
                List<CompletableFuture<Void>> slow =
                        Stream.generate(queries::slow).limit(POOL).toList();
                slow.forEach(each -> assertThat(each).failsWithin(Duration.ofMinutes(2)));
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> context.getBean(TaskLimits.class).get("db").available() == POOL);
                assertThat(running()).isZero();
            }

            assertThat(queries.connections()).containsExactlyInAnyOrderElementsOf(before);
        });
    }

    private static int running() throws SQLException {
        try (Connection server = postgres.getPostgresDatabase().getConnection();
                Statement statement = server.createStatement();
                ResultSet answer = statement.executeQuery(
                        "select count(*) from pg_stat_activity where state = 'active' and query like 'select pg_sleep%'")) {
            answer.next();
            return answer.getInt(1);
        }
    }

    static class Queries {

        private final JdbcTemplate jdbc;

        Queries(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @VirtualThread(limit = "db", timeout = "200ms")
        public CompletableFuture<Void> slow() {
            jdbc.execute("select pg_sleep(60)");
            return completedFuture(null);
        }

        @VirtualThread("db")
        public CompletableFuture<Integer> connection() {
            return completedFuture(jdbc.queryForObject("select pg_backend_pid() from pg_sleep(0.2)", Integer.class));
        }

        /** The numbers of the processes that serve the connections of the pool. */
        List<Integer> connections() {
            List<CompletableFuture<Integer>> numbers =
                    IntStream.range(0, POOL).mapToObj(i -> connection()).toList();
            return numbers.stream().map(CompletableFuture::join).distinct().toList();
        }
    }
}
