package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Runs a body in a shop and cancels its call. */
abstract class StoppedBodies {

    private static final Map<Database, Shop> shops = new EnumMap<>(Database.class);

    /** What bodies use. */
    static final class At {

        final Shop shop;
        final CountDownLatch waits = new CountDownLatch(1);
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

    static Shop shop(Database database) {
        return shops.computeIfAbsent(database, StoppedBodies::open);
    }

    private static Shop open(Database database) {
        Shop shop = Shop.open(database);
        shop.jdbc.update("delete from sold"); // what other tests have left in the server of this JVM
        return shop;
    }

    @AfterAll
    static void closeShops() {
        shops.values().forEach(Shop::close);
        shops.clear();
    }

    /** What a body does. */
    interface Running {

        void run(At at) throws Exception;
    }

    /** Cancels a body when the server runs its statement, or when it says that it waits; what it threw. */
    static Throwable stop(Shop shop, Running body) {
        return stop(shop, body, at -> at.isWaiting() || at.database.runs("%/*0*/%"));
    }

    static Throwable stop(Shop shop, Running body, Predicate<At> waits) {
        return stop(shop, body, waits, () -> {});
    }

    /** Cancels a body when it waits, does something, and awaits the end of the body; what it threw. */
    static Throwable stop(Shop shop, Running body, Predicate<At> waits, Runnable afterwards) {
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

    static CompletableFuture<Void> call(Shop shop, Callable<Void> body) {
        try {
            return shop.queries.body(body);
        } catch (Exception impossible) { // it comes through the future
            throw new IllegalStateException(impossible);
        }
    }

    static int lost(Set<Long> before, Set<Long> after) {
        return (int) before.stream().filter(each -> !after.contains(each)).count();
    }

    static void tell(Shop shop, String body, Throwable seen, Set<Long> before, Set<Long> after) {
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
