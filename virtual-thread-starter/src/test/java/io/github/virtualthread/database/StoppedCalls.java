package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.jdbc.JdbcEngine;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.timer.TaskTimer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** A limit with the permits of a pool, whose calls have a timeout. */
final class StoppedCalls implements AutoCloseable {

    static final Duration LONG = Duration.ofMinutes(4);

    /** What a body does with a connection of the pool. */
    interface Body {

        void run(Connection connection, Statement statement) throws Exception;
    }

    final HikariDataSource pool = new HikariDataSource();
    final JdbcTemplate jdbc = new JdbcTemplate(pool);
    final List<StatementOutcome> outcomes;
    final TaskEngine engine;
    final TaskTimer timer;
    final TaskLimit limit;
    private final JdbcEngine listening;
    private final Duration timeout;

    StoppedCalls(String url, int size, Duration timeout) {
        this.timeout = timeout;
        listening = new JdbcEngine(LimitSettings.of("db", size));
        outcomes = listening.outcomes;
        engine = listening.engine;
        timer = listening.timer;
        limit = listening.limits.get("db");
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(size);
        pool.setConnectionTimeout(TimeUnit.MINUTES.toMillis(2));
        new HikariStatements().postProcessAfterInitialization(pool, "pool");
    }

    CompletableFuture<@Nullable Object> submit(TaskBody body) {
        return engine.submit(engine.spec("Shop.price", "db", timeout), body);
    }

    CompletableFuture<@Nullable Object> submit(Body body) {
        return submit(() -> {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                body.run(connection, statement);
            }
            return null;
        });
    }

    /** Runs a body until it has ended after a cancel, which comes when it waits; what it threw. */
    @Nullable
    Throwable stop(Body body, Callable<Boolean> waits) throws Exception {
        CompletableFuture<@Nullable Throwable> thrown = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> call = submit((connection, statement) -> {
            try {
                body.run(connection, statement);
                thrown.complete(null);
            } catch (Throwable failure) {
                thrown.complete(failure);
                throw failure;
            }
        });
        await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> thrown.isDone() || waits.call());
        assertThat(thrown).as("it waits").isNotDone();
        assertThat(call.cancel(true)).isTrue();
        awaitAllPermits();
        return thrown.get(4, TimeUnit.MINUTES);
    }

    void awaitAllPermits() {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> limit.available() == limit.permits() && limit.waiting() == 0);
    }

    @Nullable
    String ask(String sql) {
        return jdbc.queryForObject(sql, String.class);
    }

    /** The sessions of all connections of the pool: each is borrowed. */
    Set<String> sessions(String sql) throws Exception {
        List<Connection> all = new ArrayList<>();
        Set<String> found = new TreeSet<>();
        for (int i = 0; i < limit.permits(); i++) {
            Connection connection = pool.getConnection();
            all.add(connection);
            try (Statement statement = connection.createStatement();
                    var row = statement.executeQuery(sql)) {
                row.next();
                found.add(row.getString(1));
            }
        }
        for (Connection connection : all) {
            connection.close();
        }
        return found;
    }

    @Override
    public void close() {
        listening.close();
        pool.close();
    }
}
