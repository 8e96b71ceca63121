package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Statements that wait in pgbouncer for a session, when their calls are stopped. */
@Timeout(600)
@Tag("slow")
class PgBouncerTests {

    private static final int POOL = 4;
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    private static final String URL = TestPostgres.newDatabase();
    private static final JdbcTemplate monitor = TestPostgres.monitor(URL);

    private static int running() {
        return TestPostgres.sessions(monitor, "state = 'active' and query like 'select /*wave*/ %'");
    }

    /** Two of them wait until the cancels of the other two have made room, and are cancelled then. */
    @Test
    void whatWaitsForASessionEndsToo() throws Exception {
        try (PgBouncer bouncer = new PgBouncer(URL, "transaction", 2);
                StoppedCalls calls = new StoppedCalls(bouncer.url(), POOL, TIMEOUT)) {
            await().atMost(StoppedCalls.LONG)
                    .until(() -> calls.pool.getHikariPoolMXBean() != null
                            || calls.ask("select 1").equals("1"));
            await().atMost(StoppedCalls.LONG)
                    .until(() -> calls.pool.getHikariPoolMXBean().getTotalConnections() == POOL);
            calls.outcomes.clear();
            Map<Integer, Long> ended = new ConcurrentHashMap<>();
            long begin = System.nanoTime();
            List<CompletableFuture<@Nullable Object>> all = new ArrayList<>();
            for (int i = 0; i < POOL; i++) {
                int number = i;
                all.add(calls.submit((connection, statement) -> {
                    try {
                        statement.execute("select /*wave*/ pg_sleep(12)");
                    } finally {
                        ended.put(number, (System.nanoTime() - begin) / 1_000_000);
                    }
                }));
            }
            all.forEach(call -> assertThat(call).failsWithin(StoppedCalls.LONG));
            calls.awaitAllPermits();
            int left = running();
            System.out.printf("PGBOUNCER ended after %s ms, left %d, %s%n", ended, left, calls.outcomes);

            // less than half a second, but for a busy machine; without the repeat 5 s
            assertThat(ended.values()).hasSize(POOL).allMatch(millis -> millis < 4_000);
            assertThat(left).isZero();
        }
    }

    /**
     * pgbouncer ignores the cancel of a client that waits. If no session becomes free, the connection is lost after 5 s, and pgbouncer
     * forgets what a client that is gone has sent.
     */
    @Test
    void whatWaitsForTheSessionsOfOthersIsLostAndNeverBegins() throws Exception {
        monitor.execute("create table late (x int)");
        try (PgBouncer bouncer = new PgBouncer(URL, "transaction", 1);
                StoppedCalls calls = new StoppedCalls(bouncer.url(), 1, TIMEOUT);
                Connection other = DriverManager.getConnection(bouncer.url());
                Statement statement = other.createStatement()) {
            calls.ask("select 1"); // opens the pool
            other.setAutoCommit(false);
            statement.execute("select 1"); // and now has the only session

            assertThat(calls.submit((connection, late) -> late.execute("insert into late values (1)")))
                    .failsWithin(StoppedCalls.LONG);
            calls.awaitAllPermits();
            other.rollback();

            assertThat(calls.outcomes).containsExactly(StatementOutcome.INTERRUPTED);
            assertThat(calls.ask("select count(*) from late"))
                    .as("by one that came later")
                    .isEqualTo("0");
        }
    }

    @ParameterizedTest
    @CsvSource({"session,4", "transaction,4", "transaction,2"})
    void noMoreQueriesInTheServerThanPermits(String mode, int sessions) throws Exception {
        try (PgBouncer bouncer = new PgBouncer(URL, mode, sessions);
                StoppedCalls calls = new StoppedCalls(bouncer.url(), POOL, TIMEOUT)) {
            calls.ask("select 1");
            int most = 0;
            for (int wave = 0; wave < 3; wave++) {
                List<CompletableFuture<@Nullable Object>> all = IntStream.range(0, POOL)
                        .mapToObj(i -> calls.submit(
                                (connection, statement) -> statement.execute("select /*wave*/ pg_sleep(12)")))
                        .toList();
                while (calls.limit.available() < POOL) {
                    most = Math.max(most, running());
                }
                assertThat(running()).isZero();
                all.forEach(call -> assertThat(call).failsWithin(StoppedCalls.LONG));
            }
            assertThat(most).isBetween(1, Math.min(POOL, sessions));
        }
    }
}
