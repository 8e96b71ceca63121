package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.database.TestPostgres;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
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

            List<Answer> answers = engine.exchange(
                    List.of(new Claim("partner", "a", 1, 0, Duration.ZERO, 10, 0, 4, 4, 0, 0, Duration.ZERO, LONG)));

            assertThat(answers).extracting(Answer::share).containsExactly(4);
            assertThat(connection.isReadOnly()).isTrue();
        }
    }
}
