package com.acme.shop;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A server, which ends with the JVM, and a connection beside that of the application. */
final class Postgres {

    final String url;
    final JdbcTemplate jdbc;

    private Postgres(String url) {
        this.url = url;
        this.jdbc = new JdbcTemplate(new SingleConnectionDataSource(url, "postgres", "", true));
    }

    static Postgres started() {
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setPGStartupWait(Duration.ofMinutes(5))
                    .start();
            return new Postgres(server.getJdbcUrl("postgres", "postgres"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** How many such statements the server runs at this moment. */
    int running(String like) {
        return jdbc.queryForObject(
                "select count(*) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and query ilike ?",
                Integer.class,
                like);
    }
}
