package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the next borrower of a connection sees of a body that was stopped. The application in {@code src/it} has more of it. */
@Timeout(600)
@Tag("slow")
class StoppedSessionTests {

    private static final String STATE = """
            select current_user || ' ' || coalesce(nullif(current_setting('app.tenant', true), ''), '-') || ' ' \
            || current_setting('search_path') || ' ' || (select count(*) from pg_locks where locktype = 'advisory') \
            || ' ' || (select count(*) from pg_class where relname = 'scratch')""";

    private static final String CLEAN = "postgres - \"$user\", public 0 0";

    private static final String URL = TestPostgres.newDatabase();

    /** As without the property. */
    @Test
    void aBodyWithoutACleanUpLeavesWhatItLeaves() throws Exception {
        JdbcTemplate monitor = TestPostgres.monitor(URL);
        monitor.execute("create role tenants");
        try (StoppedCalls calls = new StoppedCalls(URL, 1, StoppedCalls.LONG)) {
            String before = calls.ask("select pg_backend_pid()");

            // cancelled when it waits: a timeout could pass before, on a slow machine
            calls.stop(
                    (connection, statement) -> {
                        statement.execute("set role tenants");
                        statement.execute("select pg_sleep(60)");
                    },
                    () -> TestPostgres.sessions(monitor, "state = 'active' and wait_event = 'PgSleep'") > 0);

            assertThat(calls.ask("select current_user")).isEqualTo("tenants");
            assertThat(calls.ask("select pg_backend_pid()")).isEqualTo(before);
        }
    }

    /** Hibernate's guide for several tenants: reset the schema, and if that fails, do not give the connection back. */
    @Test
    void aPoolHasAllItsConnectionsAfterAThousandStops() throws Exception {
        try (StoppedCalls calls = new StoppedCalls(URL, 4, Duration.ofMillis(20))) {
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
