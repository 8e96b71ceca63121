package io.github.virtualthread.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;

/** A PostgreSQL that gets more time to start than the ten seconds of the library: a busy machine may need it. */
public final class TestPostgres {

    private TestPostgres() {}

    public static EmbeddedPostgres start() throws IOException {
        return EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(5))
                .start();
    }
}
