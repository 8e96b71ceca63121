package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.database.StoppedCalls.Body;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.SqlOutParameter;
import org.springframework.jdbc.core.simple.SimpleJdbcCall;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What asks the database through a result, and not through a statement. */
@Timeout(600)
@Tag("slow")
class CursorTests {

    private static final int POOL = 4;

    private static final String URL = TestPostgres.newDatabase();
    private static final JdbcTemplate monitor = TestPostgres.monitor(URL);

    private static StoppedCalls calls;

    @BeforeAll
    static void createCursors() {
        monitor.execute(
                "create function slow_cursor() returns refcursor language plpgsql as $$ declare r refcursor := null;"
                        + " begin open r for select pg_sleep(1), g from generate_series(1, 15) g; return r; end $$");
        monitor.execute("create function slow_cursor_out(out r refcursor) language plpgsql as $$"
                + " begin open r for select pg_sleep(1), g from generate_series(1, 15) g; end $$");
        monitor.execute("create type mood as enum ('good', 'bad')");
        monitor.execute("create table moods (id int primary key, m mood, all_of_them mood[])");
        monitor.execute("insert into moods values (1, 'good', '{good,bad}')");
        calls = new StoppedCalls(URL + "&ApplicationName=calls", POOL, Duration.ofSeconds(1));
    }

    @AfterAll
    static void closePool() {
        calls.close();
    }

    private enum Reads implements Body {
        COLUMN {
            @Override
            public void run(Connection connection, Statement statement) throws SQLException {
                connection.setAutoCommit(false);
                try (ResultSet row = statement.executeQuery("select slow_cursor()")) {
                    row.next();
                    readAll(row.getObject(1));
                }
            }
        },
        COLUMN_BY_NAME_IN_PORTIONS {
            @Override
            public void run(Connection connection, Statement statement) throws SQLException {
                connection.setAutoCommit(false);
                statement.setFetchSize(2);
                try (ResultSet row = statement.executeQuery("select slow_cursor() as c")) {
                    row.next();
                    readAll(row.getObject("c"));
                }
            }
        },
        OUT_PARAMETER {
            @Override
            public void run(Connection connection, Statement statement) throws SQLException {
                connection.setAutoCommit(false);
                try (CallableStatement call = connection.prepareCall("{? = call slow_cursor()}")) {
                    call.registerOutParameter(1, Types.REF_CURSOR);
                    call.execute();
                    readAll(call.getObject(1));
                }
            }
        },
        SIMPLE_JDBC_CALL {
            @Override
            public void run(Connection connection, Statement statement) {
                new TransactionTemplate(new JdbcTransactionManager(calls.pool)).execute(status -> {
                    return new SimpleJdbcCall(calls.jdbc)
                            .withProcedureName("slow_cursor_out")
                            .withoutProcedureColumnMetaDataAccess()
                            .declareParameters(new SqlOutParameter("r", Types.REF_CURSOR, (rows, number) -> 1))
                            .execute();
                });
            }
        };

        static void readAll(@Nullable Object cursor) throws SQLException {
            try (ResultSet rows = (ResultSet) cursor) {
                while (rows.next()) {
                    assertThat(rows.getObject(1)).isNotNull();
                }
            }
        }
    }

    private static int active() {
        return TestPostgres.sessions(monitor, "application_name = 'calls' and state = 'active'");
    }

    @ParameterizedTest
    @EnumSource
    void noMoreQueriesInTheServerThanPermits(Reads reads) throws Exception {
        calls.awaitAllPermits();
        await().atMost(StoppedCalls.LONG).until(() -> active() == 0);
        Set<String> before = calls.sessions("select pg_backend_pid()");
        calls.outcomes.clear();
        int most = 0;
        for (int wave = 0; wave < 3; wave++) {
            long begin = System.nanoTime();
            List<CompletableFuture<@Nullable Object>> all = IntStream.range(0, POOL)
                    .mapToObj(i -> reads == Reads.SIMPLE_JDBC_CALL
                            ? calls.submit(() -> {
                                reads.run(null, null);
                                return null;
                            })
                            : calls.submit((Body) reads))
                    .toList();
            while (calls.limit.available() < POOL) {
                most = Math.max(most, active());
                assertThat(System.nanoTime() - begin).isLessThan(StoppedCalls.LONG.toNanos());
            }
            assertThat(active()).as("left when the permits are back").isZero();
            all.forEach(call -> assertThat(call).failsWithin(StoppedCalls.LONG));
        }
        Set<String> after = calls.sessions("select pg_backend_pid()");
        System.out.printf("CURSORS %s: at once %d, %s, kept %s%n", reads, most, calls.outcomes, after.equals(before));

        assertThat(most).isEqualTo(POOL);
        assertThat(calls.outcomes).isNotEmpty().containsOnly(StatementOutcome.CANCELLED);
        assertThat(after).isEqualTo(before);
    }

    private interface Ask {

        @Nullable
        Object of(Connection connection, Statement statement, ResultSet row) throws SQLException;
    }

    /** What the driver asks the database for beside rows. */
    private enum Asks implements Ask {
        TABLE((connection, statement, row) -> row.getMetaData().isAutoIncrement(1)),
        NULLABLE((connection, statement, row) -> row.getMetaData().isNullable(1)),
        TYPE((connection, statement, row) -> row.getMetaData().getColumnTypeName(2)),
        VALUE((connection, statement, row) -> row.getObject(2)),
        ARRAY((connection, statement, row) -> row.getArray("all_of_them").getArray()),
        PREPARED((connection, statement, row) -> {
            try (PreparedStatement prepared = connection.prepareStatement("select m from moods where id = ?")) {
                ResultSetMetaData columns = prepared.getMetaData();
                return columns.getColumnTypeName(1);
            }
        }),
        PARAMETER((connection, statement, row) -> {
            try (PreparedStatement prepared = connection.prepareStatement("select m from moods where m = ?")) {
                prepared.setNull(1, Types.OTHER, "mood");
                return prepared.getParameterMetaData().getParameterTypeName(1);
            }
        });

        private final Ask ask;

        Asks(Ask ask) {
            this.ask = ask;
        }

        @Override
        public @Nullable Object of(Connection connection, Statement statement, ResultSet row) throws SQLException {
            return ask.of(connection, statement, row);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAsksForTypesAndTablesIsAnswered(Asks asks) throws Exception {
        try (Connection connection = calls.pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select id, m, all_of_them from moods")) {
            row.next();
            assertThat(asks.of(connection, statement, row)).isNotNull();
        }
    }

    /** With the flag of an interrupt, each of them would lose the connection. */
    @ParameterizedTest
    @EnumSource
    void whatAsksForTypesAndTablesKeepsTheConnection(Asks asks) throws Exception {
        try (StoppedCalls fresh = new StoppedCalls(URL, 1, StoppedCalls.LONG)) {
            String before = fresh.ask("select pg_backend_pid()");
            CountDownLatch waits = new CountDownLatch(1);

            Throwable seen = fresh.stop(
                    (connection, statement) -> {
                        connection.setAutoCommit(false);
                        try (ResultSet row = statement.executeQuery("select id, m, all_of_them from moods")) {
                            row.next();
                            try {
                                waits.countDown();
                                new CountDownLatch(1).await(4, TimeUnit.MINUTES);
                            } catch (InterruptedException stopped) {
                                Thread.currentThread().interrupt();
                            }
                            asks.of(connection, statement, row);
                        }
                    },
                    () -> waits.getCount() == 0);

            assertThat(seen).isInstanceOf(SQLException.class).hasMessageStartingWith("The statement was not sent");
            assertThat(fresh.ask("select pg_backend_pid()")).isEqualTo(before);
        }
    }

    /** What the gate asks before is not needed by the driver: its failure is none of the value. */
    @Test
    void valuesAreReadInATransactionThatHasFailed() throws Exception {
        try (StoppedCalls fresh = new StoppedCalls(URL, 1, StoppedCalls.LONG);
                Connection connection = fresh.pool.getConnection();
                Statement statement = connection.createStatement();
                Statement failing = connection.createStatement()) {
            connection.setAutoCommit(false);
            try (ResultSet row = statement.executeQuery("select id, m, all_of_them from moods")) {
                row.next();
                assertThatThrownBy(() -> failing.execute("select nonsense")).isInstanceOf(SQLException.class);

                assertThat(row.getObject(1)).isEqualTo(1);
                assertThat(row.getArray(3)).isNotNull();
            }
        }
    }

    @Test
    void arraysAndUnknownTypesAreReadAsByTheDriverAlone() {
        assertThat(calls.jdbc.queryForList("select id, m, all_of_them from moods"))
                .singleElement()
                .satisfies(row -> assertThat(row).containsEntry("m", "good").containsEntry("id", 1));
    }
}
