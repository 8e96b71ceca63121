package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What a body does when its call is cancelled, and what stays of it: no row, and all sessions, but for those of bodies that send more.
 * Each is cancelled when it waits: a timeout could pass before, on a slow machine. {@link WaveTests} has timeouts.
 */
@Timeout(600)
class StoppedBodyTests {

    private static final Map<Database, Shop> shops = new EnumMap<>(Database.class);

    /** What bodies do; each waits for its cancel, mostly in a statement that the server runs. */
    private enum Body {
        STATEMENT {
            @Override
            void run(At at) {
                at.jdbc.execute(at.slow());
            }
        },
        PREPARED_STATEMENT {
            @Override
            void run(At at) {
                at.jdbc.query(at.join() + " and ? = 1", (ResultSet row) -> {}, 1);
            }
        },
        CALLABLE_STATEMENT {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    String call =
                            switch (at.database) {
                                case POSTGRES -> "call /*0*/ take_long()";
                                case MARIADB -> "call take_long()";
                                case H2 -> "call (%s)".formatted(at.slow());
                            };
                    try (CallableStatement statement = connection.prepareCall(call)) {
                        statement.execute();
                    }
                });
            }
        },
        BATCH {
            @Override
            void run(At at) {
                at.inTransaction(() -> at.jdbc.batchUpdate(
                        at.database == Database.POSTGRES
                                ? "insert /*0*/ into sold select ? from pg_sleep(60)"
                                : "insert /*0*/ into sold values (? + sleep(60))",
                        List.of(new Object[] {1}, new Object[] {2}, new Object[] {3})));
            }
        },
        BATCH_OF_UPDATES {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.jdbc.batchUpdate(
                            at.database == Database.POSTGRES
                                    ? "update /*0*/ sold set number = ? from pg_sleep(60)"
                                    : "update /*0*/ sold set number = ? + sleep(60)",
                            List.of(new Object[] {1}, new Object[] {2}, new Object[] {3}));
                });
            }
        },
        BATCH_OF_STATEMENTS {
            @Override
            void run(At at) {
                at.inTransaction(() -> at.jdbc.batchUpdate("insert into sold values (1)", at.slow(), at.slow()));
            }
        },
        LARGE_RESULT {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.setMaxRows(2_000_000_000);
                        statement.executeQuery(
                                at.database == Database.POSTGRES
                                        ? "select /*0*/ null from generate_series(1, 30000000)"
                                        : "select /*0*/ null from seq_1_to_30000000");
                    }
                });
            }
        },
        LOCKED_ROW {
            @Override
            void run(At at) throws Exception {
                at.jdbc.update("insert into locked values (1)");
                try (Connection other = at.database.connect()) {
                    other.setAutoCommit(false);
                    try (Statement statement = other.createStatement()) {
                        statement.execute("update locked set number = 2");
                        at.inTransaction(() -> {
                            at.insert();
                            at.jdbc.update("update /*0*/ locked set number = 3");
                        });
                    }
                }
            }
        },
        LOCKED_TABLE {
            @Override
            void run(At at) throws Exception {
                try (Connection other = at.database.connect()) {
                    other.setAutoCommit(false);
                    try (Statement statement = other.createStatement()) {
                        statement.execute("insert into locked values (2)");
                        at.jdbc.execute("alter /*0*/ table locked add other int");
                    }
                }
            }
        },
        TRANSACTION {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.jdbc.execute(at.slow());
                });
            }
        },
        READ_ONLY_TRANSACTION {
            @Override
            void run(At at) {
                at.inTransaction(true, () -> at.jdbc.execute(at.slow()));
            }
        },
        COMMIT_AFTER_THE_FAILURE {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    try {
                        at.jdbc.execute(at.slow());
                    } catch (DataAccessException swallowed) {
                        at.swallowed();
                    }
                });
            }
        },
        COMMIT_AFTER_AN_INTERRUPT {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.swallowInterrupt();
                });
            }
        },
        INSERT_AFTER_AN_INTERRUPT {
            @Override
            void run(At at) {
                at.inTransaction(() -> {
                    at.insert();
                    at.swallowInterrupt();
                    at.insert();
                });
            }
        },
        PLAIN_INSERT_AFTER_THE_FAILURE {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    try (Statement statement = connection.createStatement()) {
                        try {
                            statement.execute(at.slow());
                        } catch (SQLException swallowed) {
                            at.swallowed();
                        }
                        statement.execute("insert into sold values (1)");
                    }
                });
            }
        },
        BY_HAND {
            @Override
            void run(At at) {
                at.onConnection(connection -> {
                    connection.setAutoCommit(false);
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("insert into sold values (1)");
                        statement.execute(at.slow());
                    } finally {
                        connection.setAutoCommit(true); // commits, as JDBC has it
                    }
                });
            }
        },
        ROWS_IN_PORTIONS_SLOW_IN_JAVA {
            @Override
            void run(At at) {
                at.readPortions(at.database.rows(300_000), () -> {
                    at.waits();
                    at.sleep(1);
                });
            }
        },
        ROWS_IN_PORTIONS_WITHOUT_A_PAUSE {
            @Override
            void run(At at) {
                // not too many at a time: MariaDB reads the rest when a result is closed, see below
                while (true) {
                    at.readPortions(at.database.rows(300_000), at::waits);
                }
            }
        };

        abstract void run(At at) throws Exception;
    }

    private static final Set<Body> SENDS_MORE =
            EnumSet.of(Body.INSERT_AFTER_AN_INTERRUPT, Body.PLAIN_INSERT_AFTER_THE_FAILURE);

    /** It cancels no batch, has all rows before it gives the first, and waits for a table as it does for a row. */
    private static final Set<Body> NOT_OF_H2 = EnumSet.of(
            Body.BATCH, Body.BATCH_OF_UPDATES, Body.BATCH_OF_STATEMENTS, Body.LARGE_RESULT, Body.LOCKED_TABLE);

    /** What bodies use. */
    private static final class At {

        private final Shop shop;
        private final CountDownLatch waits = new CountDownLatch(1);
        final Database database;
        final JdbcTemplate jdbc;

        At(Shop shop) {
            this.shop = shop;
            database = shop.database;
            jdbc = shop.jdbc;
        }

        String slow() {
            return database.sleep("0", 60);
        }

        String join() {
            return database.join("0");
        }

        void insert() {
            jdbc.update("insert into sold values (1)");
        }

        void inTransaction(Runnable body) {
            inTransaction(false, body);
        }

        void inTransaction(boolean serializableAndReadOnly, Runnable body) {
            TransactionTemplate template =
                    new TransactionTemplate(shop.context.getBean(PlatformTransactionManager.class));
            template.setReadOnly(serializableAndReadOnly);
            if (serializableAndReadOnly) {
                template.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
            }
            template.executeWithoutResult(status -> body.run());
        }

        interface OnConnection {

            void run(Connection connection) throws SQLException;
        }

        void onConnection(OnConnection body) {
            jdbc.execute((ConnectionCallback<Void>) connection -> {
                body.run(connection);
                return null;
            });
        }

        void readPortions(String sql, Runnable eachRow) {
            inTransaction(() -> onConnection(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(sql)) {
                    statement.setFetchSize(10);
                    try (ResultSet rows = statement.executeQuery()) {
                        while (rows.next()) {
                            eachRow.run();
                        }
                    }
                }
            }));
        }

        void sleep(long milliseconds) {
            try {
                Thread.sleep(milliseconds);
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }

        /** From now on the body may be cancelled. */
        void waits() {
            waits.countDown();
        }

        boolean isWaiting() {
            return waits.getCount() == 0;
        }

        void swallowInterrupt() {
            try {
                waits();
                new CountDownLatch(1).await();
            } catch (InterruptedException stopped) {
                swallowed();
            }
        }

        void swallowed() {
            // and the body goes on
        }
    }

    private static Stream<Arguments> bodies() {
        return Stream.of(Database.values()).flatMap(database -> Stream.of(Body.values())
                .filter(body -> database != Database.H2 || !NOT_OF_H2.contains(body))
                .map(body -> Arguments.of(database, body)));
    }

    private static Shop shop(Database database) {
        return shops.computeIfAbsent(database, StoppedBodyTests::open);
    }

    private static Shop open(Database database) {
        Shop shop = Shop.open(database);
        shop.jdbc.execute("create table locked (number int)");
        if (database == Database.POSTGRES) {
            shop.jdbc.execute("create procedure take_long() language plpgsql as $$ begin perform pg_sleep(60); end $$");
        } else if (database == Database.MARIADB) {
            shop.jdbc.execute("create procedure take_long() select /*0*/ sleep(60)");
        }
        return shop;
    }

    @AfterAll
    static void closeShops() {
        shops.values().forEach(Shop::close);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("bodies")
    void noRowStaysAndTheSessionIsKeptUnlessTheBodySendsMore(Database database, Body body) throws Exception {
        Shop shop = shop(database);
        Set<Long> before = shop.sessions();

        Throwable seen = stop(shop, body::run);

        Set<Long> after = shop.sessions();
        tell(shop, body.name(), seen, before, after);
        assertThat(shop.jdbc.queryForObject("select count(*) from sold", Integer.class))
                .isZero();
        // a statement that is refused may be to clean up the session, so it ends that
        assertThat(lost(before, after)).isEqualTo(SENDS_MORE.contains(body) ? 1 : 0);
        assertThat(after).hasSize(Shop.POOL);
    }

    /** What a body does. */
    private interface Running {

        void run(At at) throws Exception;
    }

    /** Cancels a body when the server runs its statement, or when it says that it waits; what it threw. */
    private static Throwable stop(Shop shop, Running body) {
        return stop(shop, body, at -> at.isWaiting() || at.database.runs("%/*0*/%"));
    }

    private static Throwable stop(Shop shop, Running body, Predicate<At> waits) {
        return stop(shop, body, waits, () -> {});
    }

    /** Cancels a body when it waits, does something, and awaits the end of the body; what it threw. */
    private static Throwable stop(Shop shop, Running body, Predicate<At> waits, Runnable afterwards) {
        shop.calls.forget();
        At at = new At(shop);
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        CompletableFuture<Void> call = call(shop, () -> {
            try {
                body.run(at);
            } catch (Exception failure) {
                seen.complete(failure);
                throw failure;
            }
            seen.complete(null);
            return null;
        });
        await().atMost(Shop.LONG).pollInterval(Duration.ofMillis(5)).until(() -> waits.test(at) || seen.isDone());
        assertThat(seen).as("it waits").isNotDone();
        assertThat(call.cancel(true)).isTrue();
        afterwards.run();
        Throwable thrown = seen.orTimeout(4, TimeUnit.MINUTES).join();
        shop.awaitAllPermits();
        return thrown;
    }

    private static CompletableFuture<Void> call(Shop shop, Callable<Void> body) {
        try {
            return shop.queries.body(body);
        } catch (Exception impossible) { // it comes through the future
            throw new IllegalStateException(impossible);
        }
    }

    /** A COMMIT in flight ends: interrupted or cancelled, nobody could tell its outcome. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    void aCommitThatRunsIsLeftToEnd(Database database) throws Exception {
        Shop shop = shop(database);
        Set<Long> before = shop.sessions();
        if (database == Database.POSTGRES) {
            shop.jdbc.execute("create table slowly_sold (number int)");
            shop.jdbc.execute("create function slow() returns trigger language plpgsql as"
                    + " $$ begin perform pg_advisory_xact_lock_shared(7); return null; end $$");
            shop.jdbc.execute("create constraint trigger slow after insert on slowly_sold deferrable initially deferred"
                    + " for each row execute function slow()");
        }

        Throwable seen;
        try (Connection other = database.connect();
                Statement locking = other.createStatement()) {
            seen = stop(
                    shop,
                    at -> at.inTransaction(() -> {
                        if (database == Database.POSTGRES) {
                            execute(locking, "select pg_advisory_lock(7)");
                            at.jdbc.update("insert into slowly_sold values (1)");
                        } else {
                            at.insert();
                            execute(locking, "backup stage start");
                            execute(locking, "backup stage block_commit");
                        }
                    }),
                    at -> database.runs("commit"),
                    () -> {
                        new At(shop).sleep(1_000); // what must not be done to the COMMIT has time
                        execute(
                                locking,
                                database == Database.POSTGRES ? "select pg_advisory_unlock(7)" : "backup stage end");
                    });
        }

        Set<Long> after = shop.sessions();
        tell(shop, "COMMIT", seen, before, after);
        assertThat(seen).isNull();
        assertThat(shop.jdbc.queryForObject(
                        "select count(*) from " + (database == Database.POSTGRES ? "slowly_sold" : "sold"),
                        Integer.class))
                .isOne();
        shop.jdbc.update("delete from sold");
        assertThat(after).isEqualTo(before);
    }

    private static void execute(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** {@code Statement.cancel()} of PostgreSQL's driver does nothing while rows are fetched, but the cancel of its connection does. */
    @Test
    void aFetchThatIsSlowInTheServerIsCancelled() throws Exception {
        Shop shop = shop(Database.POSTGRES);
        Set<Long> before = shop.sessions();

        AtomicInteger rows = new AtomicInteger();

        Throwable seen = stop(
                shop,
                at -> at.readPortions(
                        "select /*0*/ case when g > 20 then pg_sleep(60) end from generate_series(1, 30) g",
                        rows::incrementAndGet),
                at -> rows.get() == 20 && at.database.runs("%/*0*/%"));

        Set<Long> after = shop.sessions();
        tell(shop, "FETCH", seen, before, after);
        assertThat(shop.calls.outcomes()).containsOnlyKeys(StatementOutcome.CANCELLED);
        assertThat(after).isEqualTo(before);
    }

    /**
     * The driver of MariaDB reads the rest of a result when it is closed. Its {@code cancel()} sends a KILL then, too, so usually no
     * session is lost; one is if that does not end within 5 s.
     */
    @Test
    void theRestOfALargeResultLosesOneSessionAtMost() throws Exception {
        Shop shop = shop(Database.MARIADB);
        Set<Long> before = shop.sessions();

        Throwable seen = stop(
                shop,
                at -> at.readPortions("select a.seq from seq_1_to_100000 a, seq_1_to_100000 b", () -> {
                    at.waits();
                    at.sleep(10);
                }));

        Set<Long> after = shop.sessions();
        tell(shop, "CLOSE OF A RESULT", seen, before, after);
        assertThat(lost(before, after))
                .isLessThanOrEqualTo(shop.calls.outcomes().getOrDefault(StatementOutcome.INTERRUPTED, 0));
        assertThat(after).hasSize(Shop.POOL);
    }

    /**
     * The permit is back before a statement has ended that goes on after its cancel, such as one of MariaDB that takes back many
     * rows.
     */
    @Test
    void aStatementThatGoesOnAfterItsCancelLosesOneSession() throws Exception {
        Shop shop = shop(Database.POSTGRES);
        Set<Long> before = shop.sessions();
        // a cancel that arrives between two handlers ends what they are in: the block around it goes on instead
        String sleeps = "for i in 1..250 loop"
                + " begin perform pg_sleep(0.05); exception when query_canceled then null; end;"
                + " end loop;";
        String body = sleeps;
        for (int block = 0; block < 20; block++) {
            body = "begin " + body + " exception when query_canceled then " + sleeps + " end;";
        }
        shop.jdbc.execute("create procedure go_on() language plpgsql as $$ begin " + body + " end $$");

        Throwable seen = stop(shop, at -> at.jdbc.execute("call go_on()"), at -> at.database.sleeps("call go_on()"));

        Set<Long> after = shop.sessions();
        tell(shop, "GOES ON", seen, before, after);
        assertThat(after).hasSize(Shop.POOL);
        assertThat(lost(before, after)).isOne();
        assertThat(shop.calls.outcomes()).containsEntry(StatementOutcome.INTERRUPTED, 1);
        await().atMost(Shop.LONG).until(() -> shop.sessions().equals(after));
        assertThat(shop.jdbc.queryForObject("select count(*) from sold", Integer.class))
                .isZero();
    }

    private static int lost(Set<Long> before, Set<Long> after) {
        return (int) before.stream().filter(each -> !after.contains(each)).count();
    }

    private static void tell(Shop shop, String body, Throwable seen, Set<Long> before, Set<Long> after) {
        Throwable cause = seen;
        while (cause != null && !(cause instanceof SQLException)) {
            cause = cause.getCause();
        }
        System.out.printf(
                Locale.ROOT,
                "BODY %s %s: ran %d ms, statements %s, sessions lost %d of 4, body saw %s%s%n",
                shop.database,
                body,
                shop.calls.ran(),
                shop.calls.outcomes(),
                lost(before, after),
                seen == null ? "no failure" : seen.getClass().getSimpleName(),
                cause == null ? "" : " <- " + ((SQLException) cause).getSQLState() + " " + cause.getMessage());
    }
}
