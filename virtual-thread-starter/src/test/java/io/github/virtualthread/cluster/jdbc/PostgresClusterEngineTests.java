package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Claim;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In PostgreSQL. */
@Tag("slow")
class PostgresClusterEngineTests extends JdbcEngineContract {

    private static EmbeddedPostgres postgres;

    @BeforeAll
    static void startDatabase() throws IOException {
        postgres = EmbeddedPostgres.start();
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

    /** Otherwise a replica whose machine vanishes keeps the locks for as long as the server waits for its network. */
    @Test
    void theServerEndsAReplicaThatHasLocksAndDoesNothing() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine engine = new JdbcClusterEngine(watched.dataSource(), "shop");
            engine.exchange(List.of(new Claim("partner", "a", 1, "", 10, 0, 3, 3, LONG)));
            List<String> timeouts = new ArrayList<>();
            watched.afterLock(() -> timeouts.add(timeout(connection)));

            engine.exchange(List.of(new Claim("partner", "a", 2, "", 10, 3, 3, 3, LONG)));

            assertThat(timeouts).containsExactly("10s");
            assertThat(timeout(connection)).isEqualTo("0");
        }
    }

    private static String timeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout")) {
            row.next();
            return row.getString(1);
        }
    }
}
