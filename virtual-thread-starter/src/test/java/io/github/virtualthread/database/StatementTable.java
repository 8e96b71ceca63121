package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Bodies with a timeout of 300 ms, each of which wants to keep its database busy for longer, on a pool of one connection: which
 * rows stay, and whether the connection does. Needs nothing but a pool and what its database calls things.
 */
final class StatementTable implements AutoCloseable {

    /** A value of {@link #rows} that is always there. */
    private static final int LOCKED = 1000;

    /**
     * How a database says things.
     *
     * @param connectionId query for the number of the session
     * @param slow query of more than ten seconds
     * @param slowInsert the same, but inserts into {@code stopped}; one parameter, which is 0
     * @param stream query of more rows than can be read in ten seconds
     * @param slowFetch query that takes more than ten seconds between its tenth and its twentieth row, null for none
     * @param slowCall call of a procedure that takes more than ten seconds, null for none
     * @param setUp further statements, for these
     */
    record Dialect(
            String connectionId,
            String slow,
            String slowInsert,
            String stream,
            @Nullable String slowFetch,
            @Nullable String slowCall,
            List<String> setUp) {}

    /** What a body does until its timeout. */
    enum Case {
        PLAIN {
            @Override
            void run(StatementTable table) {
                table.jdbc.execute(table.dialect.slow);
            }
        },
        PREPARED {
            @Override
            void run(StatementTable table) {
                table.jdbc.query(connection -> connection.prepareStatement(table.dialect.slow), rows -> {});
            }
        },
        TRANSACTION {
            @Override
            void run(StatementTable table) {
                table.inTransaction(() -> {
                    table.insert(1);
                    table.jdbc.execute(table.dialect.slow);
                });
            }
        },
        FAILURE_SWALLOWED_THEN_COMMIT {
            @Override
            void run(StatementTable table) {
                table.inTransaction(() -> {
                    table.insert(2);
                    swallow(() -> table.jdbc.execute(table.dialect.slow));
                });
            }
        },
        INTERRUPT_SWALLOWED_THEN_INSERT {
            @Override
            void run(StatementTable table) {
                table.inTransaction(() -> {
                    table.insert(3);
                    swallow(StatementTable::waitForInterrupt);
                    table.insert(4);
                });
            }
        },
        INTERRUPT_SWALLOWED_THEN_COMMIT {
            @Override
            void run(StatementTable table) {
                table.inTransaction(() -> {
                    table.insert(5);
                    swallow(StatementTable::waitForInterrupt);
                });
            }
        },
        INTERRUPT_SWALLOWED_THEN_AUTO_COMMIT {
            @Override
            void run(StatementTable table) {
                table.onConnection(connection -> {
                    connection.setAutoCommit(false);
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("insert into stopped values (6)");
                    }
                    swallow(StatementTable::waitForInterrupt);
                    connection.setAutoCommit(true);
                });
            }
        },
        BATCH {
            @Override
            void run(StatementTable table) {
                table.inTransaction(() ->
                        table.jdbc.batchUpdate(table.dialect.slowInsert, List.of(new Object[] {0}, new Object[] {0})));
            }
        },
        CALLABLE {
            @Override
            void run(StatementTable table) {
                table.onConnection(connection -> {
                    try (CallableStatement call = connection.prepareCall(table.dialect.slowCall)) {
                        call.execute();
                    }
                });
            }
        },
        STREAM_WITH_WORK_BETWEEN {
            @Override
            void run(StatementTable table) {
                table.stream(table.dialect.stream, rows -> waitForInterrupt());
            }
        },
        STREAM_WITHOUT_A_PAUSE {
            @Override
            void run(StatementTable table) {
                table.stream(table.dialect.stream, rows -> {});
            }
        },
        LOCK {
            @Override
            void run(StatementTable table) throws SQLException {
                try (Connection other = table.other.getConnection();
                        Statement statement = other.createStatement()) {
                    other.setAutoCommit(false);
                    statement.execute("update stopped set x = x where x = " + LOCKED);
                    table.inTransaction(() -> table.jdbc.update("update stopped set x = 9 where x = " + LOCKED));
                }
            }
        },
        SLOW_FETCH {
            @Override
            void run(StatementTable table) {
                table.stream(table.dialect.slowFetch, rows -> {});
            }
        };

        abstract void run(StatementTable table) throws Exception;
    }

    /**
     * What became of a body.
     *
     * @param caught what it threw itself
     * @param rows those that stay, of what it inserted
     * @param connectionKept whether the next call has the same session
     * @param millis how long it took to give its permit back
     */
    record Result(@Nullable Throwable caught, List<Integer> rows, boolean connectionKept, long millis) {}

    private interface Action {

        void run() throws Exception;
    }

    private interface Use {

        void of(Connection connection) throws Exception;
    }

    private interface Row {

        void read(ResultSet rows) throws Exception;
    }

    private static final Duration TIMEOUT = Duration.ofMillis(300);

    final JdbcTemplate jdbc;
    private final Dialect dialect;
    private final HikariDataSource pool;
    private final HikariDataSource other;
    private final TransactionTemplate transaction;
    private final TaskTimer timer = new TaskTimer("timer");
    private final TaskLimits limits = new TaskLimits(List.of(LimitSettings.of("db", 1)), timer, change -> {});
    private final TaskEngine engine = new TaskEngine(
            limits, ContextPropagation.none(), timer, "vt-", getClass().getClassLoader(), List::of, List::of, false);

    StatementTable(String url, String user, String password, Dialect dialect) {
        this.dialect = dialect;
        pool = pool(url, user, password);
        other = pool(url, user, password);
        new HikariStatements().postProcessAfterInitialization(pool, "pool");
        jdbc = new JdbcTemplate(pool);
        transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
        jdbc.execute("create table stopped (x int)");
        insert(LOCKED);
        dialect.setUp.forEach(jdbc::execute);
    }

    private static HikariDataSource pool(String url, String user, String password) {
        HikariDataSource made = new HikariDataSource();
        made.setJdbcUrl(url);
        made.setUsername(user);
        made.setPassword(password);
        made.setMaximumPoolSize(1);
        made.setConnectionTimeout(TimeUnit.MINUTES.toMillis(2));
        return made;
    }

    /** A busy machine may be slower than the timeout, and the statement that it is to end is never sent: once more, with more time. */
    Result run(Case what) throws Exception {
        Result result = run(() -> what.run(this), TIMEOUT);
        return isNotSent(result.caught()) ? run(() -> what.run(this), TIMEOUT.multipliedBy(10)) : result;
    }

    private static boolean isNotSent(@Nullable Throwable caught) {
        Throwable failure =
                caught instanceof TransactionSystemException rollback ? rollback.getOriginalException() : caught;
        return failure != null && String.valueOf(failure.getMessage()).contains("The statement was not sent");
    }

    /** The caller gets a {@code TimeoutException} in any case. */
    private Result run(Action body, Duration timeout) throws Exception {
        int before = connectionId();
        CompletableFuture<@Nullable Throwable> caught = new CompletableFuture<>();
        TaskSpec spec = engine.spec("Shop.price", "db", timeout);
        long begin = System.nanoTime();
        CompletableFuture<@Nullable Object> call = engine.submit(spec, () -> {
            try {
                body.run();
                caught.complete(null);
            } catch (Throwable failure) {
                caught.complete(failure);
                throw failure;
            }
            return null;
        });
        Throwable thrown = caught.get(5, TimeUnit.MINUTES);
        engine.submit(engine.spec("next", "db"), () -> null).get(5, TimeUnit.MINUTES); // has the permit after it
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        assertThat(call)
                .failsWithin(Duration.ofMinutes(5))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(TimeoutException.class);
        Result result = new Result(thrown, rows(), connectionId() == before, millis);
        jdbc.update("delete from stopped where x < " + LOCKED);
        return result;
    }

    /** A commit that takes its time: what inserts a row, and where. */
    Result commit(String insert) throws Exception {
        return run(() -> inTransaction(() -> jdbc.update(insert)), TIMEOUT);
    }

    private int connectionId() {
        return jdbc.queryForObject(dialect.connectionId, Integer.class);
    }

    private List<Integer> rows() {
        return jdbc.queryForList("select x from stopped where x < " + LOCKED + " order by x", Integer.class);
    }

    private void insert(int x) {
        jdbc.update("insert into stopped values (?)", x);
    }

    private void inTransaction(Runnable action) {
        transaction.executeWithoutResult(status -> action.run());
    }

    private void onConnection(Use use) {
        ConnectionCallback<@Nullable Object> callback = connection -> {
            run(() -> use.of(connection), SQLException.class);
            return null;
        };
        jdbc.execute(callback);
    }

    private void stream(String query, Row each) {
        inTransaction(() -> {
            JdbcTemplate portions = new JdbcTemplate(pool);
            portions.setFetchSize(10);
            ResultSetExtractor<@Nullable Object> extractor = rows -> {
                while (rows.next()) {
                    run(() -> each.read(rows), SQLException.class);
                }
                return null;
            };
            portions.query(query, extractor);
        });
    }

    private static <X extends Exception> void run(Action action, Class<X> known) throws X {
        try {
            action.run();
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            if (known.isInstance(failure)) {
                throw known.cast(failure);
            }
            throw new IllegalStateException(failure);
        }
    }

    @SuppressWarnings("EmptyCatch")
    private static void swallow(Action action) {
        try {
            action.run();
        } catch (Exception swallowed) {
            // as some bodies do
        }
    }

    private static void waitForInterrupt() throws InterruptedException {
        assertThat(new CountDownLatch(1).await(5, TimeUnit.MINUTES)).isFalse();
    }

    @Override
    public void close() {
        engine.close();
        timer.close();
        pool.close();
        other.close();
    }
}
