package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** More clients than there are permits go away while PostgreSQL works for some of them. Prints how long that took. */
@Timeout(300)
@EnabledOnOs(OS.LINUX) // the others do not tell of clients that have gone
class DoorAbandonedStatementsTests {

    private static final int PERMITS = 8;
    private static final int CLIENTS = 20;
    private static final Duration LONG = Duration.ofMinutes(4);

    private static Postgres postgres;
    private static Shop shop;
    private static Errors errors;

    @BeforeAll
    static void start() {
        postgres = Postgres.started();
        postgres.jdbc.execute("create table orders (id varchar(20))");
        shop = Shop.cancelling("spring.datasource.url=" + postgres.url, "server.http2.enabled=true");
        errors = Errors.collect();
    }

    @AfterAll
    static void stop() {
        shop.close();
        postgres.jdbc.execute("drop function if exists wait_at_commit cascade");
    }

    @ParameterizedTest
    @CsvSource({
        "/query/future, false",
        "/query/future, true",
        "/query/join, false",
        "/query/join, true",
    })
    void whatRunsLeavesTheDatabaseAndWhatWaitsIsRejected(String path, boolean reset) throws Exception {
        TaskLimit db = shop.limit("db");
        long ended = ended();
        long abandoned = shop.answered(499);
        List<Exchange> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(shop.send(path, Shop.newId()));
        }
        await().atMost(LONG).until(() -> postgres.running("%query r%") == PERMITS && db.waiting() == CLIENTS - PERMITS);
        long others = 0;
        if (reset) {
            shop.awaitLook(); // a connection that is reset leaves no line: so it must have been seen before
            others = 2;
        }

        long begin = System.nanoTime();
        for (Exchange client : clients) {
            if (reset) {
                client.breakOff();
            } else {
                client.close();
            }
        }

        await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> postgres.running("%query r%") == 0);
        double untilStatements = secondsSince(begin);
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> db.available() == PERMITS && db.waiting() == 0);
        report("HTTP/1.1 %s %s".formatted(path, reset ? "RST" : "FIN"), untilStatements, secondsSince(begin));
        // a call may begin in the place of one that has ended already, before it ends itself
        long nowEnded = ended + CLIENTS + others;
        await().atMost(LONG).untilAsserted(() -> assertThat(ended()).isEqualTo(nowEnded));
        long nowAbandoned = abandoned + CLIENTS + others;
        await().atMost(LONG).untilAsserted(() -> assertThat(shop.answered(499)).isEqualTo(nowAbandoned));
        errors.assertNone();
    }

    @ParameterizedTest
    @CsvSource({"/query/future, true", "/query/future, false", "/query/join, false"})
    void soDoTheStatementsOfClientsOfHttp2(String path, boolean reset) throws Exception {
        if (reset && System.getProperty("expected.container").equals("undertow")) {
            return; // Undertow does not notice that before it writes
        }
        TaskLimit db = shop.limit("db");
        try (Http2Exchange client = Http2Exchange.connect(shop.port())) {
            List<Integer> streams = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                streams.add(client.send("%s?id=%s".formatted(path, Shop.newId())));
            }
            await().atMost(LONG)
                    .until(() -> postgres.running("%query r%") == PERMITS && db.waiting() == CLIENTS - PERMITS);
            if (!reset) {
                shop.awaitLook();
            }

            long begin = System.nanoTime();
            if (reset) {
                for (int stream : streams) {
                    client.reset(stream);
                }
            } else {
                client.close();
            }

            await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> postgres.running("%query r%") == 0);
            double untilStatements = secondsSince(begin);
            await().atMost(LONG)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> db.available() == PERMITS && db.waiting() == 0);
            report("h2c %s %s".formatted(path, reset ? "RST_STREAM" : "close"), untilStatements, secondsSince(begin));
        }
        errors.assertNone();
    }

    /** A lock keeps the commits until all clients have been missed. */
    @Test
    void aCommitInProgressCommits() throws Exception {
        int orders = 5;
        postgres.jdbc.execute("create function wait_at_commit() returns trigger language plpgsql as "
                + "$$ begin perform pg_advisory_xact_lock_shared(59); return null; end $$");
        postgres.jdbc.execute("create constraint trigger wait_at_commit after insert on orders "
                + "deferrable initially deferred for each row execute function wait_at_commit()");
        try (Connection other = new DriverManagerDataSource(postgres.url, "postgres", "").getConnection();
                Statement lock = other.createStatement()) {
            lock.execute("select pg_advisory_lock(59)");
            List<Exchange> clients = new ArrayList<>();
            for (int i = 0; i < orders; i++) {
                clients.add(shop.send("/order", Shop.newId()));
            }
            await().atMost(LONG).until(() -> postgres.running("commit") == orders);

            for (Exchange client : clients) {
                client.close();
            }
            shop.awaitLook();
            assertThat(postgres.running("commit")).isEqualTo(orders);
            assertThat(shop.limit("db").inUse()).isEqualTo(orders);
            lock.execute("select pg_advisory_unlock(59)");
        }

        await().atMost(LONG).until(() -> shop.limit("db").available() == PERMITS);
        assertThat(postgres.jdbc.queryForObject("select count(*) from orders", Integer.class))
                .isEqualTo(orders);
        errors.assertNone();
    }

    /** How many calls were rejected or cancelled because their client had gone. */
    private static long ended() {
        return shop.clientGone("db") + shop.timed("virtual.thread.tasks", "outcome", "cancelled");
    }

    private static double secondsSince(long begin) {
        return (System.nanoTime() - begin) / (double) TimeUnit.SECONDS.toNanos(1);
    }

    private static void report(String what, double statements, double permits) throws IOException {
        System.out.println(
                "ABANDONED %s, Spring Boot %s, %s: %.2f s until the last statement has left, %.2f s until all permits are back"
                        .formatted(
                                System.getProperty("expected.container").toLowerCase(Locale.ROOT),
                                SpringBootVersion.getVersion(),
                                what,
                                statements,
                                permits));
    }
}
