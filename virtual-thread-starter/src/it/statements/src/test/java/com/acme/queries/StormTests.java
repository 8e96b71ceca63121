package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import com.acme.accounts.Account;
import com.acme.accounts.Transfer;
import io.github.virtualthread.execution.VirtualThreads;
import jakarta.persistence.LockModeType;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Transfers between accounts by JPA and by jOOQ, half of which are cancelled at random moments, beside a client that nobody stops: no
 * money is made or lost, each transfer is there as a whole or not at all, and the client sees no failure.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class StormTests {

    private static final int ACCOUNTS = 50;
    private static final int CALLERS = 16;
    private static final int TRANSFERS = Integer.getInteger("storm.transfers", 1_000);
    private static final int LATEST_CANCEL = 6_000; // microseconds after the begin of the body

    private static final String UNFIT = "select count(*) from accounts a where balance <> 1000"
            + " + coalesce((select sum(amount) from transfers where to_id = a.id), 0)"
            + " - coalesce((select sum(amount) from transfers where from_id = a.id), 0)";

    private interface Transfers extends AutoCloseable {

        void transfer(int from, int to, long amount);

        @Override
        default void close() {}
    }

    private enum Way {
        JPA {
            @Override
            Transfers on(DataSource pool, Database database) {
                Properties properties = new Properties();
                properties.put("hibernate.connection.datasource", pool);
                SessionFactory factory = new Configuration()
                        .addProperties(properties)
                        .addAnnotatedClass(Account.class)
                        .addAnnotatedClass(Transfer.class)
                        .buildSessionFactory();
                return new Transfers() {
                    @Override
                    public void transfer(int from, int to, long amount) {
                        factory.inTransaction(session -> {
                            session.find(Account.class, from, LockModeType.PESSIMISTIC_WRITE)
                                    .add(-amount);
                            session.flush();
                            session.find(Account.class, to, LockModeType.PESSIMISTIC_WRITE)
                                    .add(amount);
                            session.persist(new Transfer(from, to, amount));
                        });
                    }

                    @Override
                    public void close() {
                        factory.close();
                    }
                };
            }
        },
        JOOQ {
            @Override
            Transfers on(DataSource pool, Database database) {
                DSLContext jooq =
                        DSL.using(pool, database == Database.POSTGRES ? SQLDialect.POSTGRES : SQLDialect.MARIADB);
                return (from, to, amount) -> jooq.transaction(transaction -> {
                    add(transaction.dsl(), from, -amount);
                    add(transaction.dsl(), to, amount);
                    transaction
                            .dsl()
                            .insertInto(table("transfers"), field("from_id"), field("to_id"), field("amount"))
                            .values(from, to, amount)
                            .execute();
                });
            }

            private void add(DSLContext jooq, int account, long amount) {
                Field<Long> balance = field("balance", Long.class);
                jooq.update(table("accounts"))
                        .set(balance, balance.plus(amount))
                        .where(field("id").eq(account))
                        .execute();
            }
        };

        abstract Transfers on(DataSource pool, Database database);
    }

    private static Stream<Arguments> all() {
        return Stream.of(Database.POSTGRES, Database.MARIADB)
                .flatMap(database -> Stream.of(Way.values()).map(way -> Arguments.of(database, way)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("all")
    void theSumStaysAndNobodyElseIsHurt(Database database, Way way) throws Exception {
        try (Connection foreign = database.connect();
                Statement sql = foreign.createStatement();
                Shop shop = Shop.open(database);
                ScheduledExecutorService clock = Executors.newScheduledThreadPool(2)) {
            open(sql, database);
            LongAdder cancelled = new LongAdder();
            LongAdder asked = new LongAdder();
            AtomicReference<Throwable> hurt = new AtomicReference<>();
            Semaphore over = new Semaphore(0);
            Thread client = Thread.ofPlatform().start(() -> {
                try {
                    do {
                        assertThat(number(sql, "select sum(balance) from accounts"))
                                .isEqualTo(ACCOUNTS * 1000L);
                        asked.increment();
                    } while (!over.tryAcquire());
                } catch (Throwable failure) {
                    hurt.set(failure);
                }
            });

            try (Transfers transfers = way.on(shop.context.getBean(DataSource.class), database)) {
                storm(shop, transfers, clock, cancelled);
                shop.awaitAllPermits();
            } finally {
                over.release();
                client.join();
            }

            System.out.printf(
                    Locale.ROOT,
                    "STORM %s %s: %d transfers, %d cancelled, %d done, statements %s, client asked %d times%n",
                    database,
                    way,
                    TRANSFERS,
                    cancelled.sum(),
                    number(sql, "select count(*) from transfers"),
                    shop.calls.outcomes(),
                    asked.sum());
            assertThat(hurt.get()).isNull();
            assertThat(cancelled.sum()).isPositive();
            assertThat(asked.sum()).isPositive();
            assertThat(number(sql, UNFIT))
                    .as("accounts that do not fit their transfers")
                    .isZero();
            assertThat(number(sql, "select count(*) from transfers"))
                    .isGreaterThanOrEqualTo(TRANSFERS - cancelled.sum());
            assertThat(shop.sessions()).hasSize(Shop.POOL);
        }
    }

    private static void open(Statement sql, Database database) throws SQLException {
        sql.execute("drop table if exists transfers");
        sql.execute("drop table if exists accounts");
        sql.execute("create table accounts (id int primary key, balance bigint)");
        sql.execute("create table transfers (id "
                + (database == Database.POSTGRES ? "bigserial" : "bigint auto_increment")
                + " primary key, from_id int, to_id int, amount bigint)");
        for (int i = 1; i <= ACCOUNTS; i++) {
            sql.execute("insert into accounts values (%d, 1000)".formatted(i));
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void storm(Shop shop, Transfers transfers, ScheduledExecutorService clock, LongAdder cancelled)
            throws Exception {
        Random random = new Random(1);
        Semaphore callers = new Semaphore(CALLERS);
        VirtualThreads threads = shop.context.getBean(VirtualThreads.class);
        for (int i = 0; i < TRANSFERS; i++) {
            assertThat(callers.tryAcquire(5, TimeUnit.MINUTES)).isTrue();
            int from = 1 + random.nextInt(ACCOUNTS - 1);
            int to = from + 1 + random.nextInt(ACCOUNTS - from); // in one order, so that none waits for each other
            int amount = random.nextInt(100) - 50;
            int after = random.nextBoolean() ? random.nextInt(LATEST_CANCEL) : -1;
            CompletableFuture<CompletableFuture<Void>> known = new CompletableFuture<>();
            CompletableFuture<Void> call = threads.submit("db", () -> {
                if (after >= 0) {
                    cancelled.increment();
                    clock.schedule(() -> known.join().cancel(true), after, TimeUnit.MICROSECONDS);
                }
                transfers.transfer(from, to, amount);
                return null;
            });
            known.complete(call);
            call.whenComplete((value, failure) -> callers.release());
        }
        assertThat(callers.tryAcquire(CALLERS, 5, TimeUnit.MINUTES)).isTrue();
    }
}
