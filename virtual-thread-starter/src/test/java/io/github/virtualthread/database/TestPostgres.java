package io.github.virtualthread.database;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.function.SingletonSupplier;

/** A PostgreSQL that gets more time to start than the ten seconds of the library: a busy machine may need it. */
public final class TestPostgres {

    /** Ends with the JVM. */
    private static final SingletonSupplier<EmbeddedPostgres> shared = SingletonSupplier.of(() -> {
        try {
            return start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    });

    private static final AtomicInteger databases = new AtomicInteger();

    private TestPostgres() {}

    public static EmbeddedPostgres start() throws IOException {
        return EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(5))
                .start();
    }

    /** The URL of a new database in a server that the tests of this JVM share. Its views of sessions show those of all databases. */
    static String newDatabase() {
        EmbeddedPostgres server = shared.obtain();
        String name = "test" + databases.incrementAndGet();
        new JdbcTemplate(server.getPostgresDatabase()).execute("create database " + name);
        return server.getJdbcUrl("postgres", name);
    }

    /** An application with a pool of so many connections, and a limit {@code db} that takes its permits from it. */
    static ApplicationContextRunner application(String url, int connections) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits-from=dataSource",
                        "spring.datasource.url=" + url,
                        "spring.datasource.hikari.maximum-pool-size=" + connections);
    }

    /** Asks a database on a connection of its own each time. */
    static JdbcTemplate monitor(String url) {
        return new JdbcTemplate(new DriverManagerDataSource(url));
    }

    /** How many sessions of its database a monitor sees for which a condition holds. */
    static int sessions(JdbcTemplate monitor, String condition) {
        return monitor.queryForObject(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and "
                        + condition,
                Integer.class);
    }
}
