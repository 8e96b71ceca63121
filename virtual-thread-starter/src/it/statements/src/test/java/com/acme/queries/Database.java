package com.acme.queries;

import com.acme.servers.MariaDb;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.function.SingletonSupplier;

/** A database; its server is started when it is first needed, and ends with the JVM. */
enum Database {
    POSTGRES(
            Database::startPostgres,
            "postgres",
            "select pg_backend_pid()",
            "select query from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()"),
    MARIADB(
            Database::startMariaDb,
            "root",
            "select connection_id()",
            "select info from information_schema.processlist where command <> 'Sleep'"
                    + " and coalesce(state, '') not in"
                    + " ('Writing to net', 'Freeing items', 'Reset for next command', 'cleaning up')"
                    + " and id <> connection_id()"),
    H2(() -> "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000", "sa", "select session_id()", "");

    private static final Pattern NUMBER = Pattern.compile("/\\*(\\d+)\\*/");

    /** Of MariaDB. */
    private static final int NO_SUCH_THREAD = 1094;

    private final Supplier<String> url;
    private final ReentrantLock lock = new ReentrantLock();
    private Statement monitor;
    final String user;

    /** SQL for the number of the session in the server. */
    final String session;

    /** SQL for the statements that run in the server, but for this one. MariaDB shows one even when its client has all of the answer. */
    private final String running;

    Database(Supplier<String> start, String user, String session, String running) {
        this.url = SingletonSupplier.of(start);
        this.user = user;
        this.session = session;
        this.running = running;
    }

    String url() {
        return url.get();
    }

    /** A connection beside those of the pool. */
    Connection connect() {
        try {
            return DriverManager.getConnection(url(), user, "");
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** How many such statements the server runs at this moment, or sends the rows of. */
    int running(String like) {
        return count(
                switch (this) {
                    case POSTGRES ->
                        "select count(*) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and query ilike '%s'";
                    case MARIADB ->
                        "select count(*) from information_schema.processlist where id <> connection_id() and info like '%s'";
                    case H2 ->
                        "select count(*) from information_schema.sessions where session_id <> session_id() and executing_statement ilike '%s'";
                },
                like);
    }

    boolean runs(String like) {
        return running(like) > 0;
    }

    /** Whether such a statement waits in PostgreSQL's {@code pg_sleep()} at this moment. */
    boolean sleeps(String like) {
        return count("select count(*) from pg_stat_activity where wait_event = 'PgSleep' and query ilike '%s'", like)
                > 0;
    }

    private int count(String sql, String like) {
        lock.lock();
        try (ResultSet row = monitor().executeQuery(sql.formatted(like))) {
            row.next();
            return row.getInt(1);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        } finally {
            lock.unlock();
        }
    }

    private Statement monitor() throws SQLException {
        if (monitor == null) {
            monitor = connect().createStatement();
        }
        return monitor;
    }

    /** The numbers in the comments of the queries that the server runs at this moment, asked on a connection beside the pools. */
    Set<Integer> queries() {
        lock.lock();
        try {
            Set<Integer> found = new HashSet<>();
            try (ResultSet rows = monitor().executeQuery(running)) {
                while (rows.next()) {
                    Matcher number = NUMBER.matcher(Objects.requireNonNullElse(rows.getString(1), ""));
                    if (number.find()) {
                        found.add(Integer.valueOf(number.group(1)));
                    }
                }
            }
            return found;
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the queries with a number in a comment that still run, with their sessions. */
    void endQueries() {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            List<String> ends = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(
                    this == POSTGRES
                            ? "select 'select pg_terminate_backend(' || pid || ')' from pg_stat_activity"
                                    + " where pid <> pg_backend_pid() and state = 'active' and query like '%/*%'"
                            : "select concat('kill soft ', id) from information_schema.processlist"
                                    + " where id <> connection_id() and info like '%/*%'")) {
                while (rows.next()) {
                    ends.add(rows.getString(1));
                }
            }
            for (String each : ends) {
                end(statement, each);
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void end(Statement statement, String end) throws SQLException {
        try {
            statement.execute(end);
        } catch (SQLException failure) {
            if (failure.getErrorCode() != NO_SUCH_THREAD) {
                throw failure; // otherwise the query has ended by itself meanwhile
            }
        }
    }

    /** A query that takes this long, and uses no processor. H2 has none. */
    String sleep(String comment, int seconds) {
        return this == H2
                ? join(comment)
                : "select /*%s*/ %s(%d)".formatted(comment, this == POSTGRES ? "pg_sleep" : "sleep", seconds);
    }

    /** A query that takes minutes of a processor. */
    String join(String comment) {
        String all =
                switch (this) {
                    case POSTGRES -> "generate_series(1, 1000000) a, generate_series(1, 1000000) b where a.a * b.b < 0";
                    case MARIADB -> "seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq * b.seq < 0";
                    case H2 -> "system_range(1, 1000000) a, system_range(1, 1000000) b where a.x * b.x < 0";
                };
        return "select /*%s*/ count(*) from %s".formatted(comment, all);
    }

    /** A query of so many rows. */
    String rows(int rows) {
        return switch (this) {
            case POSTGRES -> "select * from generate_series(1, %d)".formatted(rows);
            case MARIADB -> "select * from seq_1_to_%d".formatted(rows);
            case H2 -> "select * from system_range(1, %d)".formatted(rows);
        };
    }

    private static String startPostgres() {
        String given = System.getProperty("postgres"); // of a process that another one has started
        if (given != null) {
            return given;
        }
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder() // stops it with the JVM
                    .setPGStartupWait(Duration.ofMinutes(5))
                    .start();
            return server.getJdbcUrl("postgres", "postgres");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String startMariaDb() {
        try {
            return MariaDb.started().url();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
