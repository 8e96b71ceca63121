package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.database.StoppedCalls.Body;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the next borrower of a connection sees of a body that was stopped: nothing. */
@Timeout(600)
@Tag("slow")
class StoppedSessionTests {

    private static final String STATE = """
            select current_user || ' ' || coalesce(nullif(current_setting('app.tenant', true), ''), '-') || ' ' \
            || current_setting('search_path') || ' ' || (select count(*) from pg_locks where locktype = 'advisory') \
            || ' ' || (select count(*) from pg_class where relname = 'scratch')""";

    private static final String CLEAN = "postgres - \"$user\", public 0 0";

    private static EmbeddedPostgres postgres;

    private static CountDownLatch betweenStatements;

    private @Nullable StoppedCalls opened;

    @BeforeAll
    static void startDatabase() throws Exception {
        postgres = TestPostgres.start();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create role tenants");
        }
    }

    @AfterAll
    static void stopDatabase() throws IOException {
        postgres.close();
    }

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private StoppedCalls open(int size) {
        betweenStatements = new CountDownLatch(1);
        opened = new StoppedCalls(postgres.getJdbcUrl("postgres", "postgres"), size, StoppedCalls.LONG);
        return opened;
    }

    /** How the body waits for its stop. */
    private enum Waits implements Body {
        IN_A_STATEMENT {
            @Override
            public void run(Connection connection, Statement statement) throws SQLException {
                statement.execute("select pg_sleep(60)");
            }
        },
        BETWEEN_STATEMENTS {
            @Override
            public void run(Connection connection, Statement statement) throws InterruptedException {
                betweenStatements.countDown();
                assertThat(new CountDownLatch(1).await(4, TimeUnit.MINUTES)).isFalse();
            }
        }
    }

    private static void set(Statement statement) throws SQLException {
        statement.execute("select pg_advisory_lock(42)");
        statement.execute("create temporary table scratch (x int)");
        statement.execute("set search_path to pg_catalog");
        statement.execute("set app.tenant = 'a'");
        statement.execute("set role tenants");
    }

    private static void cleanUp(Statement statement) throws SQLException {
        statement.execute("reset role");
        statement.execute("reset app.tenant");
        statement.execute("reset search_path");
        statement.execute("drop table scratch");
        statement.execute("select pg_advisory_unlock(42)");
    }

    private static void awaitEnd(String session) {
        JdbcTemplate monitor = new JdbcTemplate(postgres.getPostgresDatabase());
        String sessions = "select count(*) from pg_stat_activity where pid = " + session;
        await().atMost(Duration.ofMinutes(4)).until(() -> monitor.queryForObject(sessions, Integer.class) == 0);
    }

    /** Cancels the body when it waits: a timeout could pass before, on a slow machine. */
    private static @Nullable Throwable stop(StoppedCalls calls, Body body) throws Exception {
        JdbcTemplate monitor = new JdbcTemplate(postgres.getPostgresDatabase());
        return calls.stop(
                body,
                () -> betweenStatements.getCount() == 0
                        || monitor.queryForObject(
                                        "select count(*) from pg_stat_activity where state = 'active'"
                                                + " and (wait_event = 'PgSleep' or wait_event_type = 'Lock')",
                                        Integer.class)
                                > 0);
    }

    private void assertClean(Body body) throws Exception {
        StoppedCalls calls = open(1);
        String before = calls.ask("select pg_backend_pid()");

        Throwable seen = stop(calls, body);

        assertThat(seen).isInstanceOf(SQLException.class);
        assertThat(calls.ask("select pg_backend_pid()")).as("its session ends").isNotEqualTo(before);
        awaitEnd(before); // the server notices the end of a connection a moment later
        assertThat(calls.ask(STATE)).isEqualTo(CLEAN);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfACleanUpThatIsRefused(Waits waits) throws Exception {
        assertClean((connection, statement) -> {
            set(statement);
            try {
                waits.run(connection, statement);
            } finally {
                cleanUp(statement);
            }
        });
    }

    @Test
    void nothingIsLeftIfTheFirstStepOfTheCleanUpChangesRows() throws Exception {
        assertClean((connection, statement) -> {
            set(statement);
            try {
                Waits.IN_A_STATEMENT.run(connection, statement);
            } finally {
                statement.executeUpdate("delete from scratch");
                cleanUp(statement);
            }
        });
    }

    /** A rollback does not take back what was set before the transaction. */
    @Test
    void nothingIsLeftOfWhatWasSetBeforeATransaction() throws Exception {
        assertClean((connection, statement) -> {
            set(statement);
            connection.setAutoCommit(false);
            try {
                Waits.BETWEEN_STATEMENTS.run(connection, statement);
            } finally {
                cleanUp(statement);
            }
        });
    }

    @Test
    void nothingIsLeftOfWhatAnEarlierTransactionSet() throws Exception {
        assertClean((connection, statement) -> {
            connection.setAutoCommit(false);
            set(statement);
            connection.commit();
            try {
                Waits.BETWEEN_STATEMENTS.run(connection, statement);
            } finally {
                cleanUp(statement);
            }
        });
    }

    /** A rollback takes back what was set, but not the lock. */
    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfATransaction(Waits waits) throws Exception {
        assertClean((connection, statement) -> {
            connection.setAutoCommit(false);
            set(statement);
            try {
                waits.run(connection, statement);
            } finally {
                cleanUp(statement);
            }
        });
    }

    /** As without the property. */
    @Test
    void aBodyWithoutACleanUpLeavesWhatItLeaves() throws Exception {
        StoppedCalls calls = open(1);
        String before = calls.ask("select pg_backend_pid()");

        stop(calls, (connection, statement) -> {
            statement.execute("set role tenants");
            Waits.IN_A_STATEMENT.run(connection, statement);
        });

        assertThat(calls.ask("select current_user")).isEqualTo("tenants");
        assertThat(calls.ask("select pg_backend_pid()")).isEqualTo(before);
    }

    /** The stop may come while the clean-up runs: then it is cancelled. */
    @Test
    void nothingIsLeftOfACleanUpThatIsCancelled() throws Exception {
        assertClean((connection, statement) -> {
            try (Connection other = postgres.getPostgresDatabase().getConnection();
                    Statement locking = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute("create table if not exists shared (x int)");
                locking.execute("lock table shared");
                statement.execute("set role tenants");
                statement.execute("reset role; drop table shared"); // waits for the lock
            }
        });
    }

    /** Hibernate's guide for several tenants: reset the schema, and if that fails, do not give the connection back. */
    @Test
    void aPoolHasAllItsConnectionsAfterAThousandStops() throws Exception {
        try (StoppedCalls calls =
                new StoppedCalls(postgres.getJdbcUrl("postgres", "postgres"), 4, Duration.ofMillis(20))) {
            List<CompletableFuture<@Nullable Object>> all = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                all.add(calls.submit(() -> {
                    Connection connection = calls.pool.getConnection();
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("set search_path to pg_catalog");
                        statement.execute("select pg_sleep(60)");
                    } finally {
                        try (Statement statement = connection.createStatement()) {
                            statement.execute("reset search_path");
                        }
                        connection.close(); // not reached
                    }
                    return null;
                }));
            }

            all.forEach(call -> assertThat(call).failsWithin(StoppedCalls.LONG));
            calls.awaitAllPermits();

            assertThat(calls.sessions("select pg_backend_pid()")).hasSize(4);
            assertThat(calls.sessions(STATE)).containsExactly(CLEAN);
        }
    }
}
