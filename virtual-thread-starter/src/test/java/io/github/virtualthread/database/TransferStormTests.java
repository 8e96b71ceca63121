package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskBody;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Transfers between accounts, half of which are cancelled at random moments, on a pool of 4 beside a client that nobody stops: no
 * money is made or lost, each transfer is there as a whole or not at all, and the client sees no failure.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Tag("slow")
class TransferStormTests {

    private static final int POOL = 4;
    private static final int ACCOUNTS = 50;
    private static final int CALLERS = 16;

    /** Microseconds after the begin of the body. */
    private static final int LATEST_CANCEL = 3_000;

    /** How many in each way. {@code -Psoak} makes 20,000. */
    private static final int TRANSFERS = Integer.getInteger("storm.transfers", 1_000);

    /** How a body sends its statements. */
    private enum Way {
        JDBC_TEMPLATE {
            @Override
            TaskBody transfer(StoppedCalls calls, int from, int to, int amount) {
                TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(calls.pool));
                return () -> {
                    transaction.executeWithoutResult(status -> {
                        calls.jdbc.update(ADD, -amount, from);
                        calls.jdbc.update(ADD, amount, to);
                        calls.jdbc.update("insert into transfers values (?, ?, ?)", from, to, amount);
                    });
                    return null;
                };
            }
        },
        RAW_JDBC {
            @Override
            TaskBody transfer(StoppedCalls calls, int from, int to, int amount) {
                return () -> {
                    try (Connection connection = calls.pool.getConnection()) {
                        connection.setAutoCommit(false);
                        update(connection, ADD, -amount, from);
                        update(connection, ADD, amount, to);
                        update(connection, "insert into transfers values (?, ?, ?)", from, to, amount);
                        connection.commit();
                    }
                    return null;
                };
            }
        };

        private static final String ADD = "update accounts set balance = balance + ? where id = ?";

        abstract TaskBody transfer(StoppedCalls calls, int from, int to, int amount);

        static void update(Connection connection, String sql, int... values) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < values.length; i++) {
                    statement.setInt(i + 1, values[i]);
                }
                statement.executeUpdate();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theSumStaysAndNobodyElseIsHurt(Way way) throws Exception {
        String url = TestPostgres.newDatabase();
        JdbcTemplate foreign = TestPostgres.monitor(url);
        try (StoppedCalls calls = new StoppedCalls(url + "&ApplicationName=calls", POOL, StoppedCalls.LONG)) {
            foreign.execute("create table accounts (id int primary key, balance bigint)");
            foreign.execute("create table transfers (from_id int, to_id int, amount int)");
            foreign.execute("insert into accounts select g, 1000 from generate_series(1, %d) g".formatted(ACCOUNTS));
            LongAdder cancelled = new LongAdder();
            LongAdder asked = new LongAdder();
            AtomicReference<@Nullable Throwable> hurt = new AtomicReference<>();
            Semaphore over = new Semaphore(0);
            Thread client = Thread.ofPlatform().start(() -> {
                try {
                    while (!over.tryAcquire()) {
                        assertThat(foreign.queryForObject("select sum(balance) from accounts", Long.class))
                                .isEqualTo(ACCOUNTS * 1000L);
                        asked.increment();
                    }
                } catch (Throwable failure) {
                    hurt.set(failure);
                }
            });

            storm(way, calls, cancelled);
            calls.awaitAllPermits();
            await().atMost(StoppedCalls.LONG).until(() -> asked.sum() > 0 || hurt.get() != null);
            over.release();
            client.join();

            System.out.printf(
                    Locale.ROOT,
                    "STORM %s: %d transfers, %d cancelled, %d statements %s, client asked %d times%n",
                    way,
                    TRANSFERS,
                    cancelled.sum(),
                    calls.outcomes.size(),
                    calls.outcomes.stream().distinct().toList(),
                    asked.sum());
            assertThat(hurt.get()).isNull();
            assertThat(cancelled.sum()).isPositive();
            assertThat(foreign.queryForObject(
                            "select count(*) from accounts a where balance <> 1000"
                                    + " + coalesce((select sum(amount) from transfers where to_id = a.id), 0)"
                                    + " - coalesce((select sum(amount) from transfers where from_id = a.id), 0)",
                            Integer.class))
                    .as("accounts that do not fit their transfers")
                    .isZero();
            // a session that has been closed ends a moment later in the server
            await().atMost(StoppedCalls.LONG)
                    .until(() -> TestPostgres.sessions(foreign, "application_name = 'calls' and state <> 'idle'") == 0);
            assertThat(calls.sessions("select pg_backend_pid()")).hasSize(POOL);
        }
    }

    private static void storm(Way way, StoppedCalls calls, LongAdder cancelled) throws Exception {
        Random random = new Random(1);
        Semaphore callers = new Semaphore(CALLERS);
        for (int i = 0; i < TRANSFERS; i++) {
            assertThat(callers.tryAcquire(5, TimeUnit.MINUTES)).isTrue();
            int first = 1 + random.nextInt(ACCOUNTS - 1);
            int second =
                    first + 1 + random.nextInt(ACCOUNTS - first); // in one order, so that none waits for each other
            TaskBody transfer = way.transfer(calls, first, second, random.nextInt(100) - 50);
            long after = random.nextBoolean() ? TimeUnit.MICROSECONDS.toNanos(random.nextInt(LATEST_CANCEL)) : -1;
            CompletableFuture<CompletableFuture<@Nullable Object>> known = new CompletableFuture<>();
            CompletableFuture<@Nullable Object> call = calls.submit(() -> {
                if (after >= 0) {
                    cancelled.increment();
                    Future<?> unused = calls.timer.schedule(
                            () -> calls.timer.handOff(() -> known.join().cancel(true)), after);
                }
                return transfer.run();
            });
            known.complete(call);
            call.whenComplete((value, failure) -> callers.release());
        }
        assertThat(callers.tryAcquire(CALLERS, 5, TimeUnit.MINUTES)).isTrue();
    }
}
