package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.database.TestPostgres;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In PostgreSQL. */
@Tag("slow")
class PostgresClusterStoreTests extends JdbcStoreContract {

    private static EmbeddedPostgres postgres;

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

    @Test
    void aConnectionForReadingOnlyIsOneForWritingMeanwhile() throws Exception {
        try (Connection connection = DriverManager.getConnection(url() + "&readOnlyMode=always", user(), "")) {
            connection.setReadOnly(true);
            JdbcClusterStore store = new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop");

            replace(store, 1);

            assertThat(read(store, List.of("partner")).texts()).hasSize(1);
            assertThat(connection.isReadOnly()).isTrue();
        }
    }

    /** PostgreSQL keeps all former versions of a row for an open snapshot, such as of pg_dump. */
    @Test
    void aLookUnderAnOpenSnapshotReadsAsFewPagesAsBefore() throws Exception {
        try (Connection snapshot = DriverManager.getConnection(url(), user(), "");
                Connection connection = DriverManager.getConnection(url(), user(), "")) {
            JdbcClusterStore store = new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop");
            replace(store, 10);
            long before = pagesOf(store, connection);
            snapshot.setAutoCommit(false);
            snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.createStatement().executeQuery("select count(*) from virtual_thread_limit");

            replace(store, 2_000);

            assertThat(pagesOf(store, connection)).isLessThan(before + 10 * CHANGES);
        }
    }

    private static final int CHANGES = 10;

    private long pagesOf(JdbcClusterStore store, Connection connection) throws Exception {
        long before = pages(connection);
        replace(store, CHANGES);
        return pages(connection) - before;
    }

    /** The pages of the table that have been read until now. */
    private long pages(Connection connection) throws SQLException {
        connection.createStatement().execute("select pg_stat_force_next_flush()");
        return number("select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit from pg_statio_user_tables"
                + " where relname = 'virtual_thread_limit'");
    }

    private static void replace(JdbcClusterStore store, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            add(store, "partner");
        }
    }

    @Test
    void eachStartOfTheServerHasAnotherName() throws Exception {
        try (Connection connection = connect()) {
            JdbcClusterStore store = new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop");
            assertThat(read(store, List.of("partner")).server()).matches("\\d{16}");
        }
    }
}
