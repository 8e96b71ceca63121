package io.github.virtualthread.sample.lab.experiment;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/** PostgreSQL, started for this application and deleted with it. */
final class PostgresServer implements ScarceServer {

    private static final String MISSING = "Missing embedded postgres binaries";

    /** The library's own 10 s may not be enough where many things run at once. */
    private static final Duration LONGEST_START = Duration.ofMinutes(5);

    private final TemporaryFolder folder;
    private final EmbeddedPostgres server;

    private PostgresServer(TemporaryFolder folder, EmbeddedPostgres server) {
        this.folder = folder;
        this.server = server;
    }

    static PostgresServer start() {
        TemporaryFolder folder = TemporaryFolder.create("postgres");
        try {
            return new PostgresServer(
                    folder,
                    EmbeddedPostgres.builder()
                            .setOverrideWorkingDirectory(folder.file("program"))
                            .setDataDirectory(folder.file("data"))
                            .setServerConfig("max_connections", String.valueOf(MOST_SESSIONS))
                            .setPGStartupWait(LONGEST_START)
                            .setRegisterShutdownHook(false) // it would not wait for the requests that are served
                            .start());
        } catch (IOException | RuntimeException failure) {
            folder.close();
            throw MISSING.equals(failure.getMessage())
                    ? new MissingServer("PostgreSQL", "postgres")
                    : new IllegalStateException("PostgreSQL has not started", failure);
        }
    }

    @Override
    public String url() {
        return server.getJdbcUrl("postgres", "postgres");
    }

    @Override
    public String slowQuery() {
        return "select /* slow */ pg_sleep(%d)";
    }

    @Override
    public String running() {
        return "select count(*) from pg_stat_activity where state = 'active' and query like 'select /* slow%'";
    }

    @Override
    public void close() {
        try (folder) {
            server.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
