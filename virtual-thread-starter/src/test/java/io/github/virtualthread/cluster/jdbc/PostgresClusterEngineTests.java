package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.database.TestPostgres;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In PostgreSQL. */
@Tag("slow")
class PostgresClusterEngineTests extends JdbcEngineContract {

    private static EmbeddedPostgres postgres;
    private static long number = 1;

    @BeforeAll
    static void startDatabase() throws IOException {
        postgres = TestPostgres.start();
    }

    @AfterAll
    static void stopDatabase() throws IOException {
        postgres.close();
    }

    @Override
    protected String url() {
        return postgres.getJdbcUrl("postgres", "postgres");
    }

    @Override
    protected String user() {
        return "postgres";
    }

    @Override
    protected String timeZone(String zone) {
        return "set time zone interval '" + zone + "' hour to minute";
    }

    @Override
    protected boolean knowsItsServer() {
        return true;
    }

    @Test
    void aConnectionForReadingOnlyIsOneForWritingMeanwhile() throws Exception {
        try (Connection connection = DriverManager.getConnection(url() + "&readOnlyMode=always", user(), "")) {
            connection.setReadOnly(true);
            JdbcClusterEngine engine = new JdbcClusterEngine(new WatchedConnections(connection).dataSource(), "shop");

            List<Answer> answers = engine.exchange(List.of(new Claim(
                    "partner", "a", 1, 0, Duration.ZERO, Duration.ZERO, 10, 0, 0, 4, 4, Duration.ZERO, LONG)));

            assertThat(answers).extracting(Answer::share).containsExactly(4);
            assertThat(connection.isReadOnly()).isTrue();
        }
    }

    /** PostgreSQL keeps all former versions of a row for an open snapshot, such as of pg_dump. */
    @Test
    void anExchangeUnderAnOpenSnapshotReadsAsFewPagesAsBefore() throws Exception {
        try (Connection snapshot = DriverManager.getConnection(url(), user(), "");
                Connection connection = DriverManager.getConnection(url(), user(), "")) {
            JdbcClusterEngine engine = new JdbcClusterEngine(new WatchedConnections(connection).dataSource(), "shop");
            exchange(engine, 10);
            long before = pagesOf(engine, connection);
            snapshot.setAutoCommit(false);
            snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.createStatement().executeQuery("select count(*) from virtual_thread_limit");

            exchange(engine, 2_000);

            assertThat(pagesOf(engine, connection)).isLessThan(before + 10 * EXCHANGES);
        }
    }

    private static final int EXCHANGES = 10;

    private long pagesOf(JdbcClusterEngine engine, Connection connection) throws Exception {
        long before = pages(connection);
        exchange(engine, EXCHANGES);
        return pages(connection) - before;
    }

    /** The pages of the table that have been read until now. */
    private long pages(Connection connection) throws SQLException {
        connection.createStatement().execute("select pg_stat_force_next_flush()");
        return number("select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit from pg_statio_user_tables"
                + " where relname = 'virtual_thread_limit'");
    }

    private static void exchange(JdbcClusterEngine engine, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Claim claim = new Claim(
                    "partner", "a", number++, 0, Duration.ZERO, Duration.ZERO, 10, 0, i % 2, 4, 4, Duration.ZERO, LONG);
            assertThat(engine.exchange(List.of(claim)).getFirst().refusal()).isNull();
        }
    }
}
