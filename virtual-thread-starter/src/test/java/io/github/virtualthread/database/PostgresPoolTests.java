package io.github.virtualthread.database;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/** Far more calls than a pool has connections, on a real database. */
@Timeout(300)
@Tag("slow")
class PostgresPoolTests {

    private static final int CONNECTIONS = 20;
    private static final int CALLS = 1_000;
    private static final Duration QUERY = Duration.ofMillis(100);

    /** With every connection busy all the time. */
    private static final Duration BEST = QUERY.multipliedBy(CALLS / CONNECTIONS);

    private static final Logger log = LoggerFactory.getLogger(PostgresPoolTests.class);

    private static final String URL = TestPostgres.newDatabase();

    @Test
    void withoutALimitSomeCallsGetNoConnectionInTime() {
        Outcome outcome = run("no limit", Queries::withoutLimit);

        assertThat(outcome.failures()).isNotEmpty().allSatisfy(failure -> assertThat(failure)
                .rootCause()
                .isInstanceOf(SQLTransientConnectionException.class));
    }

    @Test
    void underALimitOfThePoolsSizeEveryCallSucceedsAndNoTimeIsLost() {
        assertAllSucceedInTime(() -> run("@VirtualThread", Queries::onVirtualThread));
    }

    @Test
    void underALimitOnTheCallersThreadEveryCallSucceedsAndNoTimeIsLost() {
        assertAllSucceedInTime(() -> run(
                "@Limited",
                queries -> CompletableFuture.runAsync(queries::onCallersThread, Thread::startVirtualThread)));
    }

    /** What a busy machine loses is lost once, or by a pool of threads as well; what a limit loses every time. */
    private static void assertAllSucceedInTime(Supplier<Outcome> calls) {
        Outcome outcome = calls.get();
        Duration best = BEST;
        for (int again = 0; again < 2 && outcome.time().compareTo(most(best)) > 0; again++) {
            assertThat(outcome.failures()).isEmpty();
            best = Collections.max(List.of(best, onThreads().time()));
            outcome = calls.get();
        }
        assertThat(outcome.failures()).isEmpty();
        assertThat(outcome.time()).isLessThanOrEqualTo(most(best));
    }

    private static Duration most(Duration best) {
        return best.multipliedBy(115).dividedBy(100);
    }

    private static Outcome onThreads() {
        try (ExecutorService pool = Executors.newFixedThreadPool(CONNECTIONS)) {
            return run("a pool of threads", queries -> CompletableFuture.runAsync(queries::query, pool));
        }
    }

    private static Outcome run(String how, Function<Queries, CompletableFuture<Void>> call) {
        List<Outcome> outcomes = new ArrayList<>();
        TestPostgres.application(URL, CONNECTIONS)
                .withPropertyValues("spring.datasource.hikari.connection-timeout=2000")
                .withBean(Queries.class)
                .run(context -> {
                    openAllConnections(context.getBean(HikariDataSource.class));
                    Outcome outcome = measure(context.getBean(Queries.class), call);
                    log.info("{}: {}", how, outcome);
                    outcomes.add(outcome);
                });
        return outcomes.get(0);
    }

    private static void openAllConnections(HikariDataSource dataSource) throws SQLException {
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(open(dataSource));
        }
        for (Connection connection : connections) {
            connection.close();
        }
    }

    /** A database may take longer to open a connection than a call waits for it. */
    private static Connection open(HikariDataSource dataSource) throws SQLException {
        for (int attempt = 0; attempt < 10; attempt++) {
            try {
                return dataSource.getConnection();
            } catch (SQLTransientConnectionException late) {
                log.info("again: {}", late.getMessage());
            }
        }
        return dataSource.getConnection();
    }

    private static Outcome measure(Queries queries, Function<Queries, CompletableFuture<Void>> call) throws Exception {
        long start = System.nanoTime();
        List<CompletableFuture<Void>> results =
                Stream.generate(() -> call.apply(queries)).limit(CALLS).toList();
        CompletableFuture.allOf(results.toArray(CompletableFuture[]::new))
                .handle((nothing, failure) -> failure)
                .get(120, SECONDS);
        Duration time = Duration.ofNanos(System.nanoTime() - start);

        List<Throwable> failures = results.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .map(CompletableFuture::exceptionNow)
                .toList();
        return new Outcome(time, failures);
    }

    /**
     * What became of all calls.
     *
     * @param time from the first call to the last result
     */
    private record Outcome(Duration time, List<Throwable> failures) {

        @Override
        public String toString() {
            return "%d calls in %d ms, %d failed; at best %d ms"
                    .formatted(CALLS, time.toMillis(), failures.size(), BEST.toMillis());
        }
    }

    static class Queries {

        private final JdbcTemplate jdbc;

        Queries(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @VirtualThread
        CompletableFuture<Void> withoutLimit() {
            query();
            return completedFuture(null);
        }

        @VirtualThread("db")
        CompletableFuture<Void> onVirtualThread() {
            query();
            return completedFuture(null);
        }

        @Limited("db")
        void onCallersThread() {
            query();
        }

        void query() {
            jdbc.execute("select pg_sleep(%s)".formatted(QUERY.toMillis() / 1_000.0));
        }
    }
}
