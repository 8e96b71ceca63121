package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a statement does that goes on for a while when its call is cancelled: a commit, a fetch, the end of a result. */
@Timeout(600)
class StoppedStatementTests extends StoppedBodies {

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
}
